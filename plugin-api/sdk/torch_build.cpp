#include "sdk/torch_build.h"

#include <sys/stat.h>

#include <cctype>
#include <cstdlib>

#include "sdk/driver.h"
#include "sdk/text.h"

namespace lerobot::sdk {
namespace {

/// The text of `name = 'text'` or `name: type = 'text'` in torch's version.py; empty when it is None or not there.
std::string python_text(const std::string& file, const std::string& name) {
  for (const std::string& line : split(file, '\n')) {
    const bool named = line.rfind(name, 0) == 0 && line.size() > name.size() &&
                       (line[name.size()] == ' ' || line[name.size()] == ':' || line[name.size()] == '=');
    const std::size_t equals = line.find('=');
    if (!named || equals == std::string::npos) continue;
    const std::size_t open = line.find_first_of("'\"", equals);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find(line[open], open + 1);
    if (close != std::string::npos) return line.substr(open + 1, close - open - 1);
  }
  return {};
}

std::string build_tag(const std::string& version) {
  const std::size_t plus = version.find('+');
  return plus == std::string::npos ? std::string() : version.substr(plus + 1);
}

void set_if_empty(std::string& text, const std::string& value) {
  if (text.empty()) text = value;
}

}  // namespace

bool TorchBuild::holds(const char* library) const {
  struct stat status {};
  return !directory.empty() && stat((directory + "/" + library).c_str(), &status) == 0;
}

std::string TorchBuild::text() const {
  return "torch" + (version.empty() ? "" : " " + version) + (directory.empty() ? "" : " in " + directory);
}

TorchBuild find_torch_build(const std::string& directory, const std::string& version) {
  TorchBuild build;
  build.directory = directory;
  build.version = version;
  const std::string python = directory.empty() ? "" : read_text(directory + "/../version.py");
  if (build_tag(version).empty() && !directory.empty()) {
    std::string own = python_text(python, "__version__");
    if (own.empty()) own = read_text(directory + "/../build-version");
    if (!own.empty()) build.version = own;
  }
  const std::string tag = build_tag(build.version);
  build.cuda = version_of_tag(tag, "cu");
  build.hip = version_of_tag(tag, "rocm");
  set_if_empty(build.cuda, python_text(python, "cuda"));
  set_if_empty(build.hip, python_text(python, "hip"));
  return build;
}

std::string version_of_tag(const std::string& tag, const std::string& prefix) {
  if (tag.rfind(prefix, 0) != 0) return {};
  std::string number = tag.substr(prefix.size());
  if (number.empty() || number.find_first_not_of("0123456789.") != std::string::npos) return {};
  if (number.find('.') == std::string::npos && number.size() > 1) number.insert(number.size() - 1, ".");
  return number;
}

int major_version(const std::string& version) {
  if (version.empty() || std::isdigit(static_cast<unsigned char>(version[0])) == 0) return -1;
  return std::atoi(version.c_str());
}

}  // namespace lerobot::sdk
