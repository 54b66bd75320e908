#include "host/accel/restart.h"

#include <signal.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cerrno>
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

/// The environment with kVariable set to `value`.
std::vector<std::string> environment_with(const std::string& value) {
  const std::string prefix = std::string(kVariable) + "=";
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry) {
    if (!std::string_view(*entry).starts_with(prefix)) entries.emplace_back(*entry);
  }
  entries.push_back(prefix + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
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

Restart::Restart(const std::string& id, const std::string& reason) : arguments_(own_arguments()) {
  bj::object excluded;
  for (const auto& [other, why] : excluded_plugins(trusted_variables())) excluded[other] = why;
  excluded[id] = reason;
  environment_ = environment_with(bj::serialize(excluded));
  argument_pointers_ = pointers_to(arguments_);
  environment_pointers_ = pointers_to(environment_);
}

void Restart::run() noexcept {
  // A handler's own signal is blocked while it runs, and a program inherits the mask.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve("/proc/self/exe", argument_pointers_.data(), environment_pointers_.data());
}

void restart_without(const std::string& id, const std::string& reason) {
  Restart restart(id, reason);
  log::flush();
  restart.run();
  fail(ErrorKind::kInternal,
       "the program cannot restart itself without the plugin {}: {}. Set LEROBOT_ACCEL_DISABLE={}", id,
       std::strerror(errno), id);
}

}  // namespace lerobot::accel
