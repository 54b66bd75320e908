#include "host/data/ffmpeg_functions.h"

#include <dlfcn.h>

#include <string>

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::data {
namespace {

/// FFmpeg's releases are numbered apart from its libraries: libavcodec 59 is that of 5.
constexpr int kRelease = LIBAVCODEC_VERSION_MAJOR - 54;

struct Library {
  std::string name;
  void* handle = nullptr;

  Library(const char* stem, int major)
#ifdef __APPLE__
      : name(format("lib{}.{}.dylib", stem, major))
#else
      : name(format("lib{}.so.{}", stem, major))
#endif
  {
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) refuse(dlerror());
  }

  template <class Function>
  void find(const char* function, Function& out) const {
    out = reinterpret_cast<Function>(dlsym(handle, function));
    if (out == nullptr) refuse(format("it has no {}", function).c_str());
  }

  [[noreturn]] void refuse(const char* reason) const {
    fail(ErrorKind::kData,
         "the dataset has videos or JPEG images, and {} cannot be loaded ({}). Looked for in LD_LIBRARY_PATH ({}) and "
         "the system's "
         "library directories. Install the libraries of FFmpeg {}.x (Debian: libavformat{} libavcodec{} libswscale{}).",
         name, reason, environment("LD_LIBRARY_PATH").value_or("not set"), kRelease, LIBAVFORMAT_VERSION_MAJOR,
         LIBAVCODEC_VERSION_MAJOR, LIBSWSCALE_VERSION_MAJOR);
  }
};

FfmpegFunctions load() {
  const Library avutil("avutil", LIBAVUTIL_VERSION_MAJOR);
  const Library avcodec("avcodec", LIBAVCODEC_VERSION_MAJOR);
  const Library avformat("avformat", LIBAVFORMAT_VERSION_MAJOR);
  const Library swscale("swscale", LIBSWSCALE_VERSION_MAJOR);
  FfmpegFunctions functions{};
  // NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LEROBOT_FIND(library, name) library.find(#name, functions.name);
  LEROBOT_FFMPEG_FUNCTIONS(LEROBOT_FIND)
#undef LEROBOT_FIND
  return functions;
}

}  // namespace

// The libraries stay loaded: they have threads and tables of their own.
const FfmpegFunctions& ffmpeg() {
  static const FfmpegFunctions functions = load();
  return functions;
}

}  // namespace lerobot::data
