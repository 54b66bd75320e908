// A machine made of files, for one test: what the loader finds and what the kernel shows, as a plugin's probe sees it.
#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "host/accel/probe.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::test {

class FakeMachine {
 public:
  explicit FakeMachine(std::string plugin) : plugin_(std::move(plugin)) {
    std::filesystem::permissions(root(), std::filesystem::perms(0755));
    std::filesystem::create_directory(root() / "libraries");
    set("LD_LIBRARY_PATH", (root() / "libraries").string());
    set("LEROBOT_ACCEL_SYSROOT", root().string());
  }
  ~FakeMachine() {
    for (const std::string& name : variables_) ::unsetenv(name.c_str());
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  const std::filesystem::path& root() const { return directory_.path(); }

  /// An environment variable of the probe's process, until the machine is gone.
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    variables_.push_back(name);
  }

  /// Makes the loader find `file`, from tests/fakes/drivers in the build tree, under `name`.
  void install(const std::string& file, const std::string& name) {
    std::filesystem::create_symlink(std::filesystem::path(LEROBOT_BUILD_DIR "/tests/fakes/drivers") / file,
                                    root() / "libraries" / name);
  }

  /// A graphics card of PCI vendor `vendor` behind /dev/dri/renderD128, and its node unless `node` is false.
  void add_card(const std::string& vendor, bool node = true) {
    write_file(root() / "sys/class/drm/renderD128/device/vendor", vendor + "\n");
    if (node) write_file(root() / "dev/dri/renderD128", "");
  }

  accel::ProbeResult probe(std::chrono::milliseconds limit = std::chrono::seconds(20),
                           const std::filesystem::path& helper = accel::probe_helper()) {
    request.library =
        std::filesystem::path(LEROBOT_STAGE "/lib/lerobot/accel.d") / plugin_ / ("liblerobot_probe_" + plugin_ + ".so");
    request.package_directory = request.library.parent_path();
    return accel::run_probes({request}, limit, helper).at(0);
  }

  accel::ProbeRequest request;  ///< torch and architectures; the rest is filled in by `probe`

 private:
  std::string plugin_;
  TemporaryDirectory directory_;
  std::vector<std::string> variables_;
};

/// Reason code, reason and cure as one text: what a user reads. The machine's folder reads as "ROOT".
inline std::string answer(const accel::ProbeResult& result, const FakeMachine& machine) {
  std::string text = "[" + result.reason_code + "] " + result.reason + " -> " + result.cure;
  const std::string root = machine.root().string();
  for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root, at)) {
    text.replace(at, root.size(), "ROOT");
  }
  return text;
}

}  // namespace lerobot::test
