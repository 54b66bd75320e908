#include "host/base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace lerobot::log {
namespace {

std::atomic<const LineHook*> line_hook{nullptr};

/// The last 15 characters of "file:line", left-padded: the Python trainer's column.
class Where : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    std::string text =
        std::string(message.source.filename ? message.source.filename : "") + ":" + std::to_string(message.source.line);
    text = text.size() > 15 ? text.substr(text.size() - 15) : std::string(15 - text.size(), ' ') + text;
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Where>(); }
};

/// INFO, WARNING, ERROR as Python names them.
class LevelName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    const std::string_view name = message.level == spdlog::level::debug  ? "DEBUG"
                                  : message.level == spdlog::level::info ? "INFO"
                                  : message.level == spdlog::level::warn ? "WARNING"
                                                                         : "ERROR";
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelName>(); }
};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

/// Never destroyed: a plugin's thread may log while the process ends.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelName>('*').add_flag<Where>('?').set_pattern("%* %Y-%m-%d %H:%M:%S %? %v");
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto* made = new spdlog::logger("lerobot", sink);
    made->set_formatter(std::move(formatter));
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

}  // namespace

void init(Level level) {
  logger().set_level(to_spdlog(level));
}

void write(Level level, std::string_view message, const Place& where) {
  if (!logger().should_log(to_spdlog(level))) return;
  const LineHook* hook = line_hook.load();
  if (hook) hook->before(hook->context);
  logger().log(spdlog::source_loc{where.file, where.line, ""}, to_spdlog(level),
               spdlog::string_view_t(message.data(), message.size()));
  if (hook) hook->after(hook->context);
}

void flush() {
  logger().flush();
}

const LineHook* set_line_hook(const LineHook* hook) {
  return line_hook.exchange(hook);
}

}  // namespace lerobot::log
