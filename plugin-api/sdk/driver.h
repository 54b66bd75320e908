// For probes: the vendor's driver, opened at run time, and what the kernel shows of it.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace lerobot::sdk {

/// A vendor's shared library. Never closed: drivers leave threads behind.
class DriverLibrary {
 public:
  /// Opens the first of `names` that the loader finds ("libcuda.so.1"; an absolute path where it has one). When none
  /// opens, `problem` says what the loader said.
  explicit DriverLibrary(std::initializer_list<const char*> names);
  explicit DriverLibrary(const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }

  /// The name under which it was opened; the first name when none was.
  const std::string& name() const { return name_; }
  const std::string& problem() const { return problem_; }

  /// The library that is not installed: one of `names` itself, or one that it needs. Empty when it failed otherwise.
  const std::string& missing() const { return missing_; }

  /// Whether `missing` is another library that the driver's library needs.
  bool lacks_dependency() const { return !missing_.empty() && !missing_is_own_; }

  /// A function by name; null when the library does not export it (or is not open).
  template <typename Function>
  Function function(const char* symbol) const {
    return reinterpret_cast<Function>(address(symbol));
  }

  /// Sets `function` to the one of that name. `missing` becomes the name when there is none and nothing was missing
  /// yet.
  template <typename Function>
  void bind(Function*& function, const char* symbol, std::string& missing) const {
    function = this->function<Function*>(symbol);
    if (function == nullptr && missing.empty()) missing = symbol;
  }

 private:
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string name_;
  std::string problem_;
  std::string missing_;
  bool missing_is_own_ = false;
};

/// An environment variable that is trusted: unset in a program with raised privileges.
struct Variable {
  bool set = false;
  std::string value;
};
Variable environment(const char* name);

/// Where the kernel's files are looked for: "/", or LEROBOT_ACCEL_SYSROOT, which moves it for tests and containers.
/// Without a slash at the end: sysroot() + "/dev/kfd".
std::string sysroot();

/// Whether this user may use a device node.
struct NodeAccess {
  bool present = false;
  bool permitted = false;
  std::string explanation;  ///< when present and not permitted: group and mode of the node, the user's groups
  std::string cure;         ///< when present and not permitted
  unsigned group = 0;       ///< the node's group
};
NodeAccess check_node(const std::string& path);

/// Names of a directory's entries, sorted; empty when it cannot be read.
std::vector<std::string> directory_entries(const std::string& path);

/// A small text file of the kernel, without the white space at its end; empty when it cannot be read.
std::string read_text(const std::string& path);

}  // namespace lerobot::sdk
