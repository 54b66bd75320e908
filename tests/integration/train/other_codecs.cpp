// To be preloaded: who loads libavcodec at run time gets the library that OTHER_CODECS names.

#include <dlfcn.h>
#include <stdlib.h>

#include <string_view>

extern "C" void* dlopen(const char* name, int flags) {
  using Dlopen = void* (*)(const char*, int);
  static const auto real = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  const bool is_codecs = name != nullptr && std::string_view(name).starts_with("libavcodec");
  return real(is_codecs ? getenv("OTHER_CODECS") : name, flags);
}
