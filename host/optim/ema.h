#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/checkpoint/ema_state.h"
#include "host/config/train_config.h"

namespace lerobot::optim {

/// The exponential moving average of the weights, with the warm-up of diffusers' EMAModel: after n updates the decay is
/// 1 - (1 + t / inv_gamma)^-power with t = n - update_after_step - 1, kept between min_decay and max_decay. While t is
/// 0 or less the average is a copy of the weights.
class Ema {
 public:
  /// `parameters` in the policy's order, all on one device: the average begins as a copy of them, and each step reads
  /// them again. `float64`: the device has that type; without it the decay is computed in float32.
  Ema(OrderedMap<at::Tensor> parameters, const config::EmaConfig& config, bool float64);

  /// Takes one update of the weights into the average. `found_inf`: a float32 cell on the device; where it is not zero
  /// nothing changes (the update of a loss scaler that overflowed), and the host does not wait to know.
  void step(const std::optional<at::Tensor>& found_inf = std::nullopt);

  /// The decay of the latest update, 0 before the first. A scalar of its own on the device.
  at::Tensor decay() const;
  /// The number of updates that landed. A scalar of its own (int64) on the device.
  at::Tensor optimization_step() const { return count_.clone(); }
  /// The averages, under the parameters' names and in their order. They change with every step.
  const OrderedMap<at::Tensor>& shadow() const { return shadow_; }

  /// What a checkpoint keeps; the tensors are shared. Waits for the device.
  checkpoint::EmaState state() const;
  /// Takes over a saved state. Its settings stay in force, with a warning where the configuration's are others, as in
  /// Python. `source` names the checkpoint in messages. Throws Error(kCheckpoint) before anything is changed.
  void load(const checkpoint::EmaState& state, std::string_view source);

 private:
  struct Schedule {
    double max_decay;
    double min_decay;
    std::int64_t update_after_step;
    double inv_gamma;
    double power;
  };
  /// Averages that lie in one piece of memory, so that a step on a device takes few operations.
  struct Piece {
    at::Tensor averages;
    std::vector<at::Tensor> parameters;
  };

  void add_piece(const std::vector<at::Tensor>& parameters);
  /// Both take the parameters into the averages, with the same bits. `weight`: 1 - decay in float32.
  void move_on_host(const at::Tensor& weight);
  /// Nothing where not `landed`.
  void move_on_device(const at::Tensor& landed, const at::Tensor& weight);
  /// 1 - decay.
  at::Tensor weight() const;
  void check(const checkpoint::EmaState& state, std::string_view source) const;
  void warn_of_differences(const Schedule& stored, std::string_view source) const;

  Schedule schedule_;
  at::ScalarType real_;  // of the decay
  OrderedMap<at::Tensor> parameters_;
  at::Tensor count_;
  std::vector<Piece> pieces_;
  OrderedMap<at::Tensor> shadow_;  // views into the pieces
};

}  // namespace lerobot::optim
