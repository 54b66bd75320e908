#pragma once

#include <filesystem>
#include <string>

namespace boost::dll {
class shared_library;
}

namespace lerobot::accel {

/// A shared library that stays loaded until the process ends. This is the only place that uses Boost.DLL.
class Library {
 public:
  /// Loads the library with all its symbols resolved now and visible to nobody else. `path` is absolute.
  /// Throws Error(kDevice) with the loader's own words.
  static Library open(const std::filesystem::path& path);

  /// The address of an exported symbol, or null.
  void* find(const std::string& name) const;

 private:
  explicit Library(const boost::dll::shared_library* handle) : handle_(handle) {}

  const boost::dll::shared_library* handle_;
};

}  // namespace lerobot::accel
