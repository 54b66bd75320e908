#pragma once

#include <ATen/core/Tensor.h>

#include <boost/json/value.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "host/accel/accelerator.h"
#include "host/config/train_config.h"

namespace lerobot::precision {

/// PyTorch's loss scaler (torch.amp.GradScaler, Micikevicius et al. 2018): keeps fp16 gradients inside fp16's range.
/// One round for each update of the optimizer:
///
///     scaler.scale(loss).backward();          // of every micro-batch of the update, all with the same scale
///     scaler.unscale(parameters);             // before clipping
///     optimizer.step(scaler.found_inf());     // where the flag is up nothing changes
///     scaler.update();                        // in every round, whatever else was skipped
///
/// Scale (float32), growth tracker (int32) and flag (float32) live on the device, and nothing here waits for it but
/// state_json(). A disabled scaler is the same object doing nothing.
class GradScaler {
 public:
  /// The state exists from here on, before a checkpoint is read. `device`: where the gradients are; `accelerator`, its
  /// plugin, outlives this object.
  GradScaler(accel::Accelerator& accelerator, const at::Device& device, const config::GradScalerConfig& settings,
             bool enabled);

  bool enabled() const { return enabled_; }

  /// loss x scale.
  at::Tensor scale(const at::Tensor& loss) const;

  /// Divides the gradients of these parameters by the scale in place and raises the flag when an element is not finite.
  /// Throws Error(kNumerics) when no parameter has a gradient, Error(kInternal) the second time in a round.
  void unscale(const std::vector<at::Tensor>& parameters);

  /// The flag of this round, after unscale: not 0 when the update must not happen. A tensor of its own in each round,
  /// so that it can be read later; ranks may reduce it in place. Nothing when disabled.
  std::optional<at::Tensor> found_inf() const;

  /// Ends the round: the next scale by PyTorch's rule. Error(kInternal) without unscale before it.
  void update();

  /// The scale as it is now, a scalar on the device.
  const at::Tensor& current_scale() const { return scale_; }
  const at::Tensor& growth_tracker() const { return growth_tracker_; }

  /// torch's state_dict: scale, growth_factor, backoff_factor, growth_interval, _growth_tracker. Waits for the device.
  boost::json::value state_json() const;
  /// Takes over such a state, factors and interval included, as torch does. Checked first: Error(kCheckpoint) that
  /// names `source`, the key, and what was found, for a missing or unknown key, a wrong type or an absurd number.
  void load(const boost::json::value& state, std::string_view source);

 private:
  enum class Round { kOpen, kUnscaled };

  void unscale_plain(const std::vector<at::Tensor>& gradients, const at::Tensor& inv_scale);
  void update_plain();
  at::Tensor inverse_scale() const;
  /// scale x factor as the fused kernels compute it, rounded once where the device has float64.
  at::Tensor scaled_by(double factor) const;
  void set_state(double scale, std::int64_t tracker);

  accel::Accelerator& accelerator_;
  at::Device device_;
  bool enabled_;
  bool has_float64_;
  accel::ScalerRule rule_;
  Round round_ = Round::kOpen;
  at::Tensor scale_;
  at::Tensor growth_tracker_;
  at::Tensor found_inf_;
};

}  // namespace lerobot::precision
