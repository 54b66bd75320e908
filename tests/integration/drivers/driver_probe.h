// Real probe libraries on fake drivers, fake machines and fake torches.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "host/accel/probe.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::test {

/// The library that asks for a plugin's driver, as it was built.
std::filesystem::path staged_probe(const std::string& id);

/// The directory of a fake driver (tests/fakes/drivers), for LD_LIBRARY_PATH.
std::string fake_driver(const std::string& name);

/// A device that a user could write: "reason-code: reason | cure", "usable: remark" when it is.
std::string answer_text(const accel::ProbeResult& result);

class DriverProbe : public ::testing::Test {
 protected:
  explicit DriverProbe(std::string id);

  /// Runs the probe in its child process with these variables, on the machine below `machine_` and, when `torch_` is
  /// set, for the torch in it. As another user than root when `as_nobody`, where this test is root.
  accel::ProbeResult probe(const std::map<std::string, std::string>& variables, bool as_nobody = false);

  /// A file of the fake machine ("/dev/kfd").
  std::filesystem::path add_file(const std::string& path, const std::string& content = "");
  /// A directory that looks like a torch with these files; sets torch_.
  void add_torch(std::initializer_list<const char*> files, const std::string& version = "");
  /// A file whose group is `group` where this test may say so, and that nobody but root may open.
  void forbid(const std::filesystem::path& file, unsigned group);

  std::string id_;
  TemporaryDirectory directory_;
  std::filesystem::path machine_ = directory_.path() / "machine";
  accel::ProbeRequest request_;
};

}  // namespace lerobot::test
