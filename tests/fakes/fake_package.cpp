#include "tests/fakes/fake_package.h"

#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <fstream>

#include "host/accel/elf.h"
#include "host/base/error.h"

namespace lerobot::test {
namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (fs::temp_directory_path() / "lerobot-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) fail(ErrorKind::kIo, "{}: cannot be made", pattern);
  path_ = fs::canonical(pattern);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ec;
  fs::remove_all(path_, ec);
}

boost::json::object fake_manifest(const std::string& id) {
  return {{"schema", 1},
          {"id", id},
          {"name", "Fake"},
          {"version", "1.0"},
          {"kind", "plugin"},
          {"abi", {{"major_min", 1}, {"major_max", 1}, {"minor", 0}}},
          {"probe", "libprobe.so"},
          {"library", "libaccel.so"},
          {"torch", nullptr},
          {"preload", boost::json::array{}},
          {"architectures", {accel::own_architecture()}},
          {"device_archs", boost::json::array{}},
          {"device_types", {id}},
          {"auto", true},
          {"priority", 0}};
}

fs::path make_fake(const fs::path& root, const std::string& id, const std::string& way,
                   const boost::json::object& changes) {
  const fs::path package = root / id;
  fs::create_directories(package);
  for (const char* name : {"libprobe.so", "libaccel.so"}) fs::copy_file(fake_library(way), package / name);
  boost::json::object manifest = fake_manifest(id);
  for (const auto& [key, value] : changes) manifest[key] = value;
  write_manifest(package, manifest);
  return package;
}

void write_manifest(const fs::path& package, const boost::json::object& manifest) {
  write_file(package / "manifest.json", boost::json::serialize(manifest));
}

void write_file(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

fs::path fake_library(const std::string& way) {
  return fs::path(LEROBOT_FAKES) / ("libfake_" + way + ".so");
}

}  // namespace lerobot::test
