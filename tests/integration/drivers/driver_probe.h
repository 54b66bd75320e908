// Real probe libraries on fake drivers, fake machines and fake torches.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
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

/// Why a test that asks as nobody is skipped.
inline constexpr char kNeedsNobody[] = "needs setpriv, and a build tree that everybody may read";

class DriverProbe : public ::testing::Test {
 protected:
  explicit DriverProbe(std::string id);

  /// Runs the probe in its child process with these variables and variables_, on the machine below `machine_`, for what
  /// request_ says of torch and architectures. As another user than root when `as_nobody`, where this test is root.
  accel::ProbeResult probe(std::map<std::string, std::string> variables = {}, bool as_nobody = false);

  /// Whether `probe` can ask as nobody: needs setpriv and a build tree that everybody may read.
  bool can_ask_as_nobody() const;

  /// A file of the fake machine ("/dev/kfd").
  std::filesystem::path add_file(const std::string& path, const std::string& content = "");
  /// The library folder of an environment that looks like a torch with these files; sets the torch of request_.
  void add_torch(std::initializer_list<const char*> files, const std::string& version = "");
  /// A file whose group is `group` where this test may say so, and that nobody but root may open.
  void forbid(const std::filesystem::path& file, unsigned group);

  std::string id_;
  TemporaryDirectory directory_;
  std::filesystem::path machine_ = directory_.path() / "machine";
  accel::ProbeRequest request_;
  std::map<std::string, std::string> variables_;  ///< for every `probe`, unless it is given others
  std::chrono::milliseconds limit_ = std::chrono::seconds(20);
};

}  // namespace lerobot::test
