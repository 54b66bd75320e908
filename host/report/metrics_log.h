#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "host/report/event_file.h"

namespace lerobot::report {

/// The run's records on disk: `metrics.jsonl` (one object a line) and `tensorboard/events.out.tfevents.*`.
/// Losing them never stops a run: a write that fails is one warning.
class MetricsLog {
 public:
  /// A resumed run keeps the lines up to `start_step` and drops later ones, which it will write again.
  MetricsLog(const std::filesystem::path& output_dir, std::int64_t start_step);

  /// `group` goes before the names in TensorBoard's tags.
  void write(const boost::json::object& record, std::string_view group = "train");

 private:
  std::ofstream lines_;
  std::optional<EventFile> events_;
  bool warned_ = false;
};

}  // namespace lerobot::report
