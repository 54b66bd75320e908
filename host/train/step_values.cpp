#include "host/train/step_values.h"

#include <ATen/ops/stack.h>

#include <utility>

namespace lerobot::train {
namespace {

/// Every scalar of a report, in the order in which fill() takes them back.
void append_scalars(const StepReport& report, std::vector<at::Tensor>& scalars) {
  const auto append = [&](const at::Tensor& scalar) { scalars.push_back(scalar.detach().to(at::kFloat).reshape({})); };
  append(report.loss.total);
  for (const auto& [name, part] : report.loss.parts) append(part);
  if (report.grad_norm) append(*report.grad_norm);
  if (report.found_inf) append(*report.found_inf);
}

const float* fill(StepValues& values, const StepReport& report, const float* next) {
  values.updated = report.updated;
  values.loss = *next++;
  for (const auto& [name, part] : report.loss.parts) values.parts.append(name, *next++);
  if (report.grad_norm) values.grad_norm = *next++;
  if (report.found_inf) values.skipped = *next++ != 0;
  return next;
}

/// The micro-batches before an update share its fate.
void spread_skips(std::vector<StepValues>& steps) {
  bool skipped = false;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->updated) skipped = step->skipped;
    step->skipped = skipped;
  }
}

}  // namespace

void PendingSteps::add(std::int64_t step, std::vector<std::int64_t> rows, const StepReport& report) {
  steps_.push_back({{.step = step, .rows = std::move(rows), .parts = {}, .grad_norm = {}}, report});
}

std::vector<StepValues> PendingSteps::read() {
  auto end = steps_.end();
  while (scaled_ && end != steps_.begin() && !std::prev(end)->report.updated) --end;
  std::vector<StepValues> known;
  if (end == steps_.begin()) return known;
  std::vector<at::Tensor> scalars;
  for (auto pending = steps_.begin(); pending != end; ++pending) append_scalars(pending->report, scalars);
  const at::Tensor numbers = at::stack(scalars).to(at::kCPU);
  const float* next = numbers.const_data_ptr<float>();
  for (auto pending = steps_.begin(); pending != end; ++pending) {
    next = fill(pending->values, pending->report, next);
    known.push_back(std::move(pending->values));
  }
  steps_.erase(steps_.begin(), end);
  spread_skips(known);
  return known;
}

}  // namespace lerobot::train
