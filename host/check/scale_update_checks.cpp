// scaler_update: PyTorch's rule, step by step.
#include <bit>
#include <cmath>
#include <memory>

#include "host/accel/abi.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

using checker::Tensor;
using checker::Type;

struct Rule {
  double growth;
  double backoff;
  std::uint32_t interval;
};

/// The rule on the processor: a product in double, rounded once.
struct Expected {
  float scale;
  std::int32_t tracker = 0;

  void step(const Rule& rule, bool overflow) {
    if (overflow) {
      scale = static_cast<float>(scale * rule.backoff);
      tracker = 0;
    } else if (++tracker == static_cast<std::int32_t>(rule.interval)) {
      const auto grown = static_cast<float>(scale * rule.growth);
      if (std::isfinite(grown)) scale = grown;
      tracker = 0;
    }
  }
};

class Scaler {
 public:
  Scaler(Run& run, float scale) : run_(run) {
    run.start();
    if (!run.api().scaler_update) throw Skipped("the plugin leaves the update to the host");
    scale_ = run.tensors().make(Type::kFloat32, {1}, {scale});
    tracker_ = run.tensors().make(Type::kInt32, {1}, {0});
    for (const float flag : {0.0F, 1.0F}) flags_[flag == 0 ? 0 : 1] = run.tensors().make(Type::kFloat32, {1}, {flag});
  }

  lra_status step(const Rule& rule, bool overflow) {
    const lra_tensor_view scale = scale_->view();
    const lra_tensor_view tracker = tracker_->view();
    const lra_tensor_view flag = flags_[overflow ? 1 : 0]->view();
    auto args = arguments(rule);
    args.scale = &scale;
    args.growth_tracker = &tracker;
    args.found_inf = &flag;
    return run_.api().scaler_update(run_.context(), &args, run_.error());
  }

  static lra_scaler_update_args arguments(const Rule& rule) {
    auto args = sized<lra_scaler_update_args>();
    args.growth_factor = rule.growth;
    args.backoff_factor = rule.backoff;
    args.growth_interval = rule.interval;
    return args;
  }

  float scale() const { return scale_->values().at(0); }
  std::int32_t tracker() const { return static_cast<std::int32_t>(tracker_->values().at(0)); }
  float flag(bool overflow) const { return flags_[overflow ? 1 : 0]->values().at(0); }
  void use(std::unique_ptr<Tensor> scale, std::unique_ptr<Tensor> tracker) {
    if (scale) scale_ = std::move(scale);
    if (tracker) tracker_ = std::move(tracker);
  }

 private:
  Run& run_;
  std::unique_ptr<Tensor> scale_;
  std::unique_ptr<Tensor> tracker_;
  std::unique_ptr<Tensor> flags_[2];
};

/// Steps with overflows here and there, compared bit for bit; read back now and then, since that waits.
void follow(Run& run, const Rule& rule, float start, int steps, std::uint32_t overflow_in) {
  Scaler scaler(run, start);
  Expected expected{start};
  std::uint32_t state = 4242;
  for (int i = 0; i < steps; ++i) {
    state = state * 1664525U + 1013904223U;
    const bool overflow = overflow_in != 0 && (state >> 8) % overflow_in == 0;
    const lra_status status = scaler.step(rule, overflow);
    run.require(status == LRA_OK, "step {}: {} ({})", i, status_name(status),
                accel::bounded_text(run.error()->message));
    expected.step(rule, overflow);
    if (i % 16 != 0 && i + 1 != steps) continue;
    const float scale = scaler.scale();
    run.require(std::bit_cast<std::uint32_t>(scale) == std::bit_cast<std::uint32_t>(expected.scale) &&
                    scaler.tracker() == expected.tracker,
                "step {} (factors {} and {}, interval {}): scale {} and tracker {}, needed {} and {}", i, rule.growth,
                rule.backoff, rule.interval, scale, scaler.tracker(), expected.scale, expected.tracker);
  }
  run.expect(scaler.flag(false) == 0 && scaler.flag(true) == 1, "found_inf, which is only read, was changed");
}

void rule(Run& run) {
  follow(run, {2, 0.5, 20}, 65536, 60000, 50);  // PyTorch's factors, ups and downs
  follow(run, {1.5, 0.75, 3}, 7.7F, 30000, 5);  // fractions that round
  follow(run, {2, 0.5, 1}, 65536, 500, 0);      // up to where the next product is not finite
  follow(run, {2, 0.5, 2000}, 65536, 8500, 0);  // the interval itself
  follow(run, {2, 0.5, 10}, 65536, 1000, 1);    // down to zero
}

void refusals(Run& run) {
  const Rule good = {2, 0.5, 2};
  const struct {
    const char* what;
    Rule rule;
  } faults[] = {{"growth_factor 1", {1, 0.5, 2}},
                {"growth_factor infinite", {INFINITY, 0.5, 2}},
                {"growth_factor NaN", {NAN, 0.5, 2}},
                {"backoff_factor 1", {2, 1, 2}},
                {"backoff_factor 0", {2, 0, 2}},
                {"growth_interval 0", {2, 0.5, 0}},
                {"growth_interval 2^31", {2, 0.5, 0x80000000U}}};
  Scaler scaler(run, 4);
  for (const auto& fault : faults) {
    run.refused(scaler.step(fault.rule, false), LRA_INVALID_ARGUMENT, fault.what);
    run.expect(scaler.scale() == 4 && scaler.tracker() == 0, "{}: refused, and a cell was changed", fault.what);
  }
  scaler.use(run.tensors().make(Type::kFloat32, {2}, {4, 4}), nullptr);
  run.refused(scaler.step(good, false), LRA_INVALID_ARGUMENT, "a scale of two elements");
  scaler.use(run.tensors().make(Type::kFloat32, {1}, {4}), run.tensors().make(Type::kFloat32, {1}, {0}));
  run.refused(scaler.step(good, false), LRA_INVALID_ARGUMENT, "a growth_tracker that is no int32");
  run.expect(scaler.scale() == 4, "a wrong cell: refused, and the scale was changed");
}

}  // namespace

std::vector<Check> scale_update_checks() {
  return {
      {"numerics.scaler-rule", "100000 steps give PyTorch's scale and tracker, bit for bit", rule},
      {"numerics.scaler-refusals", "factors and cells that make no sense are refused", refusals},
  };
}

}  // namespace lerobot::check
