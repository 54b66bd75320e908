#include "host/train/run_watch.h"

#include <cmath>

#include "host/base/error.h"
#include "host/base/format.h"

namespace lerobot::train {
namespace {

/// A NaN's sign means nothing.
std::string number(double value) {
  return std::isnan(value) ? "nan" : format("{:.6g}", value);
}

std::string checkpoint_text(std::int64_t saved_step) {
  if (saved_step == 0) return "no checkpoint was saved";
  return format("the last checkpoint is that of step {}", saved_step);
}

}  // namespace

void RunWatch::check(const StepValues& values) {
  last_step_ = values.step;
  if (!values.skipped && !std::isfinite(values.loss)) stop_for_value("loss", values.loss, values);
  if (!values.skipped && !std::isfinite(values.grad_norm.value_or(0))) {
    stop_for_value("gradient norm", *values.grad_norm, values);
  }
  if (std::isfinite(values.loss)) last_finite_loss_ = values.loss;
  if (!values.updated) return;
  skipped_ += values.skipped ? 1 : 0;
  skipped_in_a_row_ = values.skipped ? skipped_in_a_row_ + 1 : 0;
  if (options_.max_skipped_updates == 0 || skipped_in_a_row_ < options_.max_skipped_updates) return;
  stop_for_overflows(format("the last {} updates overflowed in fp16 and were skipped", skipped_in_a_row_),
                     "--max_skipped_updates");
}

void RunWatch::check_scale(double scale) const {
  if (options_.min_loss_scale == 0 || scale >= options_.min_loss_scale) return;
  stop_for_overflows(format("the loss scale fell to {} after {} skipped updates, needed {} or more", scale, skipped_,
                            options_.min_loss_scale),
                     "--min_loss_scale");
}

std::string RunWatch::last_loss_text() const {
  return last_finite_loss_ ? format(" The last finite loss was {}.", number(*last_finite_loss_)) : "";
}

void RunWatch::stop_for_value(const char* what, double value, const StepValues& at) const {
  const std::string norm = at.grad_norm ? format(" Gradient norm: {}.", number(*at.grad_norm)) : "";
  fail(ErrorKind::kNumerics, "the {} is {} at step {}: training stopped, {}. {}{}{}", what, number(value), at.step,
       checkpoint_text(texts_.saved_step()), texts_.examine_samples(at.rows), last_loss_text(), norm);
}

void RunWatch::stop_for_overflows(const std::string& problem, const char* limit) const {
  fail(
      ErrorKind::kNumerics,
      "{} at step {}: training stopped, since nothing is learned any more; {}. {}{} Use bf16 or no mixed precision, or "
      "a smaller learning rate; {} moves the limit.",
      problem, last_step_, checkpoint_text(texts_.saved_step()), texts_.find_overflow(), last_loss_text(), limit);
}

}  // namespace lerobot::train
