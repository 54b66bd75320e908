#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/train/step_values.h"

namespace lerobot::train {

struct WatchOptions {
  std::int64_t max_skipped_updates = 20;  ///< in a row; 0: no limit
  double min_loss_scale = 1.0;            ///< after an overflow; 0: no limit
  std::int64_t skipped_before = 0;        ///< updates that the run skipped before it was resumed
};

/// Sentences for a message about a run that stops, made only then.
struct WatchTexts {
  /// What is wrong with the inputs of these samples, or that nothing is.
  std::function<std::string(const std::vector<std::int64_t>& rows)> examine_samples;
  /// Which gradient is not finite.
  std::function<std::string()> find_overflow;
  /// The step of the last checkpoint, 0: none.
  std::function<std::int64_t()> saved_step;
};

/// Ends a run that trains on nothing, rather than after hours: non-finite losses, and a loss scale that only falls.
class RunWatch {
 public:
  RunWatch(const WatchOptions& options, WatchTexts texts) : options_(options), texts_(std::move(texts)) {
    skipped_ = options_.skipped_before;
  }

  /// Looks at the next step, in order. Throws Error(kNumerics) that names the step, its samples, what is known of the
  /// cause and the last checkpoint, for a loss or gradient norm that is not finite (in a step whose update happened:
  /// the scaler's skipped ones are its way of working) and for too many skipped updates in a row.
  void check(const StepValues& values);

  /// The scale after a skipped update. Throws Error(kNumerics) below the limit.
  void check_scale(double scale) const;

  /// Skipped updates of the whole run.
  std::int64_t skipped_updates() const { return skipped_; }

 private:
  std::string last_loss_text() const;
  [[noreturn]] void stop_for_value(const char* what, double value, const StepValues& at) const;
  [[noreturn]] void stop_for_overflows(const std::string& problem, const char* limit) const;

  WatchOptions options_;
  WatchTexts texts_;
  std::int64_t skipped_ = 0;
  std::int64_t skipped_in_a_row_ = 0;
  std::int64_t last_step_ = 0;
  std::optional<double> last_finite_loss_;
};

}  // namespace lerobot::train
