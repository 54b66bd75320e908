#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/ordered_map.h"

namespace lerobot::report {

/// What one run trains on, for the sample accounting.
struct RunSize {
  std::int64_t samples_per_step = 0;  ///< batch size times data-parallel workers
  std::int64_t num_frames = 0;
  std::int64_t num_episodes = 0;
};

/// Averages over the window since the last log line, and the line itself, as the Python trainer prints it:
/// `step:2K smpl:16K ep:150 epch:12.60 loss:0.123 grdn:1.234 lr:1.0e-05 data_s:... prep_s:... updt_s:... step_s:...
/// smp/s:...` and then one `name:value` for each output of the policy. A meter that got no value in the window shows 0.
class Metrics {
 public:
  Metrics(const RunSize& size, std::int64_t start_step);

  /// A further meter of the line, after the trainer's own: its name in the records, its label and a format pattern.
  void add_meter(std::string_view name, std::string_view label, std::string_view pattern);

  /// One value of a named meter. Names that are not the trainer's own (loss, grad_norm, lr, dataloading_s,
  /// preprocessing_s, update_s, step_s, samples_per_s) are outputs of the policy, shown in first-seen order.
  void add(std::string_view name, double value);
  /// A value that goes to the records (metrics.jsonl, TensorBoard) but not into the line.
  void add_detail(std::string_view name, double value);

  /// One more loop iteration done.
  void count_step() { ++steps_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t samples() const { return steps_ * size_.samples_per_step; }
  double epochs() const;

  double average(std::string_view name) const;

  /// Sets samples_per_s from the window's mean step time. Call once before line() and record().
  void finish_window();
  std::string line() const;
  /// {"step", "samples", "episodes", "epochs", then every meter by its full name}.
  boost::json::object record() const;
  void start_window();

 private:
  struct Meter {
    std::string label;
    std::string pattern;
    bool in_line = true;
    double sum = 0;
    std::int64_t count = 0;
    double average() const { return count == 0 ? 0.0 : sum / static_cast<double>(count); }
  };
  double episodes() const;

  RunSize size_;
  std::int64_t steps_;
  OrderedMap<Meter> meters_;
};

/// 950 -> "950", 1500 -> "2K", 2000000 -> "2M": Python LeRobot's short form.
std::string format_big_number(double number);

}  // namespace lerobot::report
