#include "sdk/driver.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sdk/text.h"

namespace lerobot::sdk {
namespace {

/// "libfoo.so.1: cannot open shared object file: No such file or directory" -> "libfoo.so.1" (glibc);
/// "dlopen(libfoo.dylib, ...): tried: ..." and other texts name nothing.
std::string missing_library(const std::string& problem) {
  const std::size_t colon = problem.find(": cannot open shared object file: No such file");
  return colon == std::string::npos ? std::string() : problem.substr(0, colon);
}

std::string own_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (std::find(groups.begin(), groups.end(), getegid()) == groups.end()) groups.insert(groups.begin(), getegid());
  std::vector<std::string> texts;
  for (const gid_t group : groups) texts.push_back(std::to_string(group));
  return join(texts);
}

}  // namespace

DriverLibrary::DriverLibrary(std::initializer_list<const char*> names)
    : DriverLibrary(std::vector<std::string>(names.begin(), names.end())) {}

DriverLibrary::DriverLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    dlerror();
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      problem_.clear();
      missing_.clear();
      return;
    }
    const char* text = dlerror();
    const std::string problem = text == nullptr ? "the loader gives no reason" : text;
    const std::string missing = missing_library(problem);
    // A library that is there and does not open says more than one that is absent.
    if (!name_.empty() && missing == name) continue;
    name_ = name;
    problem_ = problem;
    missing_ = missing;
    missing_is_own_ = missing == name;
  }
}

void* DriverLibrary::address(const char* symbol) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}

Variable environment(const char* name) {
#if defined(__GLIBC__)
  const char* value = secure_getenv(name);
#else
  const char* value = getuid() == geteuid() && getgid() == getegid() ? std::getenv(name) : nullptr;
#endif
  return value == nullptr ? Variable{} : Variable{true, value};
}

std::string sysroot() {
  std::string root = environment("LEROBOT_ACCEL_SYSROOT").value;
  while (!root.empty() && root.back() == '/') root.pop_back();
  return root;
}

NodeAccess check_node(const std::string& path) {
  NodeAccess node;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return node;
  node.present = true;
  node.group = status.st_gid;
  node.permitted = access(path.c_str(), R_OK | W_OK) == 0;
  if (node.permitted) return node;
  char mode[8] = "";
  snprintf(mode, sizeof mode, "%03o", static_cast<unsigned>(status.st_mode & 0777));
  node.explanation = path + " is of group " + std::to_string(status.st_gid) + ", mode " + mode +
                     "; this user's groups: " + own_groups();
  const std::string group = std::to_string(status.st_gid);
  // Names of groups differ between a container and its host, numbers do not.
  node.cure = status.st_gid == 0
                  ? "Give the node to a group of this user's on the host (a udev rule does it at each start)"
                  : "Add this user to the group (usermod -aG); start a container with --group-add " + group;
  return node;
}

std::vector<std::string> directory_entries(const std::string& path) {
  std::vector<std::string> names;
  std::error_code ec;
  std::filesystem::directory_iterator it(path, ec);
  for (; !ec && it != std::filesystem::directory_iterator(); it.increment(ec)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text(const std::string& path) {
  constexpr std::streamsize kMost = 64 * 1024;
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(kMost), '\0');
  file.read(text.data(), kMost);
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\0')) text.pop_back();
  return text;
}

}  // namespace lerobot::sdk
