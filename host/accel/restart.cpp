#include "host/accel/restart.h"

#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/log.h"

extern char** environ;

namespace lerobot::accel {
namespace bj = boost::json;
namespace {

constexpr char kVariable[] = "LEROBOT_ACCEL_EXCLUDED";

/// This process's own arguments.
std::vector<std::string> own_arguments() {
  const std::string text = read_text("/proc/self/cmdline", ErrorKind::kInternal);
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    arguments.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return arguments;
}

}  // namespace

std::map<std::string, std::string> excluded_plugins(const Variables& variables) {
  const auto variable = variables.find(kVariable);
  if (variable == variables.end()) return {};
  std::map<std::string, std::string> excluded;
  try {
    const bj::value value = json::parse(variable->second, kVariable, ErrorKind::kConfig);
    if (!value.is_object()) return {};
    for (const auto& [id, reason] : value.get_object()) {
      if (reason.is_string()) excluded.emplace(std::string(id), std::string(reason.get_string()));
    }
  } catch (const Error& error) {
    log::warn("{} is ignored: {}", kVariable, error.what());
  }
  return excluded;
}

void restart_without(const std::string& id, const std::string& reason) {
  bj::object excluded;
  for (const auto& [other, why] : excluded_plugins(trusted_variables())) excluded[other] = why;
  excluded[id] = reason;
  ::setenv(kVariable, bj::serialize(excluded).c_str(), 1);
  std::vector<std::string> arguments = own_arguments();
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  log::flush();
  ::execve("/proc/self/exe", pointers.data(), environ);
  fail(ErrorKind::kInternal,
       "the program cannot restart itself without the plugin {}: {}. Set LEROBOT_ACCEL_DISABLE={}", id,
       std::strerror(errno), id);
}

}  // namespace lerobot::accel
