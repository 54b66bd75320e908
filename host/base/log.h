#pragma once

#include <string>
#include <string_view>

#include "host/base/format.h"

namespace lerobot::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// Sets up the one logger of the process: lines on stderr as `LEVEL YYYY-MM-DD HH:MM:SS <15 of file:line> message`, the
/// form of the Python trainer. Without a call to init the level is kInfo.
void init(Level level);

/// A line of the sources. Not std::source_location, which clang 14 (of Debian 12) does not have.
struct Place {
  const char* file;
  int line;
};

/// Writes one line. Thread-safe. `where` is where the line comes from.
void write(Level level, std::string_view message, const Place& where);

/// Writes pending lines out.
void flush();

/// A pattern together with the place of the call.
struct Pattern {
  std::string_view text;
  Place where;
  template <class Text>
  Pattern(const Text& pattern, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : text(pattern), where{file, line} {}
};

template <class... Args>
void debug(const Pattern& pattern, const Args&... args) {
  write(Level::kDebug, format(pattern.text, args...), pattern.where);
}
template <class... Args>
void info(const Pattern& pattern, const Args&... args) {
  write(Level::kInfo, format(pattern.text, args...), pattern.where);
}
template <class... Args>
void warn(const Pattern& pattern, const Args&... args) {
  write(Level::kWarning, format(pattern.text, args...), pattern.where);
}
template <class... Args>
void error(const Pattern& pattern, const Args&... args) {
  write(Level::kError, format(pattern.text, args...), pattern.where);
}

/// Called around every line, so that a progress bar can step aside. Null removes it. Set from the main thread only;
/// returns the one before.
struct LineHook {
  void (*before)(void* context);
  void (*after)(void* context);
  void* context;
};
const LineHook* set_line_hook(const LineHook* hook);

}  // namespace lerobot::log
