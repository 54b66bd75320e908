#include "host/report/metrics_log.h"

#include <string>

#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/log.h"

namespace lerobot::report {
namespace {

/// The step of a line, or nothing for a line that was cut off by a kill.
std::optional<std::int64_t> step_of(const std::string& line) {
  try {
    return json::parse(line, "metrics.jsonl", ErrorKind::kIo).at("step").as_int64();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void drop_lines_after(const std::filesystem::path& path, std::int64_t last_step) {
  std::ifstream in(path);
  std::string kept;
  bool dropped = false;
  for (std::string line; std::getline(in, line);) {
    const auto step = step_of(line);
    if (step && *step <= last_step) {
      kept += line + "\n";
    } else {
      dropped = true;
    }
  }
  if (dropped) replace_durable(path, kept);
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& output_dir, std::int64_t start_step) {
  const std::filesystem::path path = output_dir / "metrics.jsonl";
  try {
    if (std::filesystem::exists(path)) {
      drop_lines_after(path, start_step);
    } else if (start_step > 0) {
      log::warn("{}: no such file: the records of the steps up to {} are not there, a new file begins after them",
                path.string(), start_step);
    }
    lines_.open(path, std::ios::app);
    if (!lines_) fail(ErrorKind::kIo, "{}: cannot be opened for writing", path.string());
    events_.emplace(output_dir / "tensorboard");
  } catch (const Error& error) {
    log::warn("metrics are not recorded: {}", error.what());
    warned_ = true;
  }
}

void MetricsLog::write(const boost::json::object& record, std::string_view group) {
  if (lines_.is_open()) {
    lines_ << json::write_line(record) << '\n';
    lines_.flush();
    if (!lines_ && !warned_) {
      log::warn("metrics.jsonl cannot be written; the run goes on without it");
      warned_ = true;
    }
  }
  if (events_) events_->write(record.at("step").as_int64(), group, record);
}

}  // namespace lerobot::report
