#include "host/optim/ema.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/fused/parameters.h"
#include "host/policy/shape_text.h"

namespace lerobot::optim {
namespace {

/// Elements of a piece: bounds the memory that a step needs beside the averages (on a device three times 16 MiB).
constexpr std::int64_t kPieceElements = std::int64_t{1} << 22;

at::Tensor flatten(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.detach().reshape({-1}));
  return at::cat(flat);
}

}  // namespace

Ema::Ema(OrderedMap<at::Tensor> parameters, const config::EmaConfig& config, bool float64)
    : schedule_{.max_decay = config.decay.value_or(config.max_decay),
                .min_decay = config.decay.value_or(config.min_decay),
                .update_after_step = config.update_after_step,
                .inv_gamma = config.inv_gamma,
                .power = config.power},
      real_(float64 ? at::kDouble : at::kFloat),
      parameters_(std::move(parameters)) {
  if (parameters_.empty()) fail(ErrorKind::kInternal, "an average of no parameters");
  count_ = at::zeros({}, at::TensorOptions(at::kLong).device(parameters_.begin()->second.device()));
  std::vector<at::Tensor> piece;
  std::int64_t elements = 0;
  for (const auto& [name, parameter] : parameters_) {
    const bool fits = elements + parameter.numel() <= kPieceElements;
    if (!piece.empty() && (!fits || piece[0].scalar_type() != parameter.scalar_type())) {
      add_piece(std::exchange(piece, {}));
      elements = 0;
    }
    piece.push_back(parameter);
    elements += parameter.numel();
  }
  add_piece(piece);
  auto name = parameters_.begin();
  for (const Piece& each : pieces_) {
    std::int64_t offset = 0;
    for (const at::Tensor& parameter : each.parameters) {
      const at::Tensor average = each.averages.narrow(0, offset, parameter.numel());
      shadow_.append((name++)->first, average.view(parameter.sizes()));
      offset += parameter.numel();
    }
  }
}

void Ema::add_piece(const std::vector<at::Tensor>& parameters) {
  pieces_.push_back({flatten(parameters), parameters});
}

void Ema::step(const std::optional<at::Tensor>& found_inf) {
  const at::NoGradGuard no_grad;
  const at::Tensor landed = found_inf ? found_inf->reshape({}).eq(0) : at::ones({}, count_.options().dtype(at::kBool));
  count_.add_(landed);
  const at::Tensor weight = this->weight().to(at::kFloat);
  if (count_.is_cpu()) {
    if (landed.item<bool>()) move_on_host(weight);  // reading costs nothing there
  } else {
    move_on_device(landed, weight);
  }
}

void Ema::move_on_host(const at::Tensor& weight) {
  std::vector<at::Tensor> averages, values;
  auto parameter = parameters_.begin();
  for (const auto& [name, average] : shadow_) {
    averages.push_back(average);
    values.push_back((parameter++)->second);
  }
  const auto share = weight.item<float>();
  if (share == 1) {
    at::_foreach_copy_(averages, values);
    return;
  }
  const bool float32 = std::all_of(averages.begin(), averages.end(),
                                   [](const at::Tensor& average) { return average.scalar_type() == at::kFloat; });
  if (float32) return fused::move_averages(averages, values, share);
  for (std::size_t i = 0; i < averages.size(); ++i) averages[i].sub_((averages[i] - values[i]).mul_(weight));
}

void Ema::move_on_device(const at::Tensor& landed, const at::Tensor& weight) {
  const at::Tensor copies = weight.eq(1);
  for (Piece& piece : pieces_) {
    // Chosen element by element rather than by weights of 0 and 1: x - 0 * (x - y) may turn -0 into 0, and
    // x - 1 * (x - y) is y only up to rounding.
    const at::Tensor now = flatten(piece.parameters);
    at::Tensor next = piece.averages - now;
    next.mul_(weight);
    at::sub_out(next, piece.averages, next);
    next = at::where(copies, now, next);
    at::where_out(piece.averages, landed, next, piece.averages);
  }
}

at::Tensor Ema::weight() const {
  const at::Tensor updates = count_.sub(1).sub(schedule_.update_after_step).clamp_min(0).to(real_);
  const at::Tensor weight = updates.div(schedule_.inv_gamma).add(1).pow(-schedule_.power);
  return at::where(updates.gt(0), weight.clamp(1 - schedule_.max_decay, 1 - schedule_.min_decay), 1.0);
}

at::Tensor Ema::decay() const {
  return 1 - weight();
}

checkpoint::EmaState Ema::state() const {
  return {.decay = schedule_.max_decay,
          .min_decay = schedule_.min_decay,
          .optimization_step = count_.item<std::int64_t>(),
          .update_after_step = schedule_.update_after_step,
          .inv_gamma = schedule_.inv_gamma,
          .power = schedule_.power,
          .shadow = shadow_};
}

void Ema::load(const checkpoint::EmaState& state, std::string_view source) {
  check(state, source);
  const Schedule stored{.max_decay = state.decay,
                        .min_decay = state.min_decay,
                        .update_after_step = state.update_after_step,
                        .inv_gamma = state.inv_gamma,
                        .power = state.power};
  warn_of_differences(stored, source);
  schedule_ = stored;
  count_.fill_(state.optimization_step);
  auto from = state.shadow.begin();
  for (const auto& [name, average] : shadow_) average.copy_((from++)->second);
}

void Ema::check(const checkpoint::EmaState& state, std::string_view source) const {
  if (state.shadow.size() != shadow_.size()) {
    fail(ErrorKind::kCheckpoint, "{}: the average of the weights has {} tensors, the policy {}. {}", source,
         state.shadow.size(), shadow_.size(), "Resume with the policy it was saved with.");
  }
  auto found = state.shadow.begin();
  for (const auto& [name, average] : shadow_) {
    const at::Tensor& stored = (found++)->second;
    if (stored.sizes() == average.sizes() && stored.scalar_type() == average.scalar_type()) continue;
    fail(ErrorKind::kCheckpoint,
         "{}: the average of {}: found {} of shape {}, needed {} of {}. Resume with the policy it was saved with.",
         source, name, c10::toString(stored.scalar_type()), policy::shape_text(stored.sizes()),
         c10::toString(average.scalar_type()), policy::shape_text(average.sizes()));
  }
}

void Ema::warn_of_differences(const Schedule& stored, std::string_view source) const {
  std::vector<std::string> differences;
  const auto compare = [&](std::string_view name, double own, double other) {
    if (own != other)
      differences.push_back(format("{} {} (not {})", name, json::float_repr(other), json::float_repr(own)));
  };
  compare("max_decay", schedule_.max_decay, stored.max_decay);
  compare("min_decay", schedule_.min_decay, stored.min_decay);
  compare("update_after_step", static_cast<double>(schedule_.update_after_step),
          static_cast<double>(stored.update_after_step));
  compare("inv_gamma", schedule_.inv_gamma, stored.inv_gamma);
  compare("power", schedule_.power, stored.power);
  if (differences.empty()) return;
  log::warn(
      "{}: the average of the weights goes on with the settings it was saved with, not the configuration's ema.*: {}",
      source, join(differences, ", "));
}

}  // namespace lerobot::optim
