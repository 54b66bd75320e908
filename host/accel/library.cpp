#include "host/accel/library.h"

#include <dlfcn.h>

#include <boost/dll/shared_library.hpp>
#include <list>
#include <mutex>

#include "host/base/error.h"

namespace lerobot::accel {
namespace dll = boost::dll;
namespace {

/// Never destroyed: unloading a plugin, at exit too, pulls code from under its threads.
struct Handles {
  std::mutex mutex;
  std::list<dll::shared_library> libraries;
};

Handles& handles() {
  static Handles* leaked = new Handles;
  return *leaked;
}

}  // namespace

Library Library::open(const std::filesystem::path& path) {
  if (!path.is_absolute()) fail(ErrorKind::kInternal, "{}: a library is opened by its absolute path", path.string());
  // Boost.DLL's default, lazy, would abort on a missing symbol at its first call instead of reporting it here. It has
  // no name for NODELETE, but hands the bits on to dlopen.
  const auto mode =
      static_cast<dll::load_mode::type>(static_cast<unsigned>(dll::load_mode::rtld_now) | unsigned{RTLD_NODELETE});
  try {
    dll::shared_library library(path.string(), mode);  // the overload with error_code loses the loader's text
    Handles& all = handles();
    const std::lock_guard lock(all.mutex);
    return Library(&all.libraries.emplace_back(std::move(library)));
  } catch (const boost::dll::fs::system_error& error) {
    // "boost::dll::shared_library::load() failed (dlerror system message: TEXT): Bad file descriptor [...]"
    std::string text = error.what();
    constexpr std::string_view kBegin = "(dlerror system message: ";
    if (const std::size_t at = text.find(kBegin); at != std::string::npos) {
      text = text.substr(at + kBegin.size());
      text = text.substr(0, text.rfind("):"));
    }
    fail(ErrorKind::kDevice, "{}: {}", path.filename().string(), text);
  }
}

void* Library::find(const std::string& name) const {
  return handle_->has(name) ? &handle_->get<char>(name) : nullptr;
}

}  // namespace lerobot::accel
