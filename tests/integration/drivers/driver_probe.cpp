#include "tests/integration/drivers/driver_probe.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>

namespace lerobot::test {
namespace fs = std::filesystem;
namespace {

/// Variables of this process, for the children, until the end of the scope.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      const char* before = ::getenv(name.c_str());
      before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

/// What a shell runs as the user "nobody", who may not open everything as root may.
std::string as_nobody_command(const std::string& command) {
  return "setpriv --reuid=65534 --regid=65534 --clear-groups " + command;
}

std::string quoted(const fs::path& path) {
  return "'" + path.string() + "'";
}

fs::path helper_as_nobody(const fs::path& directory) {
  if (::geteuid() != 0) return accel::probe_helper();
  const fs::path script = directory / "as-nobody";
  write_file(script, "#!/bin/sh\nexec " + as_nobody_command(quoted(accel::probe_helper())) + " \"$@\"\n");
  ::chmod(script.c_str(), 0755);
  return script;
}

}  // namespace

fs::path staged_probe(const std::string& id) {
  return fs::path(LEROBOT_STAGE) / "lib/lerobot/accel.d" / id / ("liblerobot_probe_" + id + ".so");
}

std::string fake_driver(const std::string& name) {
  return LEROBOT_BUILD_DIR "/tests/fakes/drivers/" + name;
}

std::string answer_text(const accel::ProbeResult& result) {
  std::string text = result.usable ? "usable" : result.reason_code;
  if (!result.reason.empty()) text += ": " + result.reason;
  if (!result.cure.empty()) text += " | " + result.cure;
  return text;
}

DriverProbe::DriverProbe(std::string id) : id_(std::move(id)) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
                           "ONEAPI_DEVICE_SELECTOR"}) {
    ::unsetenv(name);
  }
  ::chmod(directory_.path().c_str(), 0755);  // for "nobody"
  fs::create_directories(machine_);
  request_.library = staged_probe(id_);
  request_.package_directory = request_.library.parent_path();
}

accel::ProbeResult DriverProbe::probe(std::map<std::string, std::string> variables, bool as_nobody) {
  variables.insert(variables_.begin(), variables_.end());
  variables.emplace("LEROBOT_ACCEL_SYSROOT", machine_.string());
  const Environment environment(variables);
  const fs::path helper = as_nobody ? helper_as_nobody(directory_.path()) : accel::probe_helper();
  return accel::run_probes({request_}, limit_, helper).at(0);
}

bool DriverProbe::can_ask_as_nobody() const {
  if (::geteuid() != 0) return true;
  const std::string test = as_nobody_command("test -x " + quoted(accel::probe_helper())) + " 2>/dev/null";
  return std::system(test.c_str()) == 0;
}

fs::path DriverProbe::add_file(const std::string& path, const std::string& content) {
  write_file(machine_.string() + path, content);
  return machine_.string() + path;
}

void DriverProbe::add_torch(std::initializer_list<const char*> files, const std::string& version) {
  const fs::path directory = directory_.path() / "env/lib/python3.12/site-packages/torch/lib";
  fs::remove_all(directory);
  fs::create_directories(directory);
  for (const char* file : files) write_file(directory / file, "");
  request_.torch_directory = directory;
  request_.torch_version = version;
}

void DriverProbe::forbid(const fs::path& file, unsigned group) {
  ::chmod(file.c_str(), 0);
  if (::geteuid() == 0 && ::chown(file.c_str(), 0, group) != 0) GTEST_FAIL() << file << " keeps its group";
}

}  // namespace lerobot::test
