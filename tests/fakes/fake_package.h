#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>

namespace lerobot::test {

/// A directory for one test, removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What a fake package's manifest says: complete and right, with id as the only device type.
boost::json::object fake_manifest(const std::string& id);

/// Makes `root`/`id` with the fake plugin that was built in this way (see CMakeLists.txt) as probe and as library.
/// `changes` replace keys of the manifest. Returns the package's directory.
std::filesystem::path make_fake(const std::filesystem::path& root, const std::string& id, const std::string& way,
                                const boost::json::object& changes = {});

void write_manifest(const std::filesystem::path& package, const boost::json::object& manifest);
void write_file(const std::filesystem::path& path, const std::string& content);
std::filesystem::path fake_library(const std::string& way);

}  // namespace lerobot::test
