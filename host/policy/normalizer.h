#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/base/error.h"
#include "host/base/ordered_map.h"
#include "host/config/policy_config.h"
#include "host/policy/policy.h"

namespace lerobot::policy {

/// Feature, then statistic (mean, std, min, max, q01, ..., count), to a float32 tensor on the CPU.
using Stats = OrderedMap<OrderedMap<at::Tensor>>;

/// Where statistics came from, for messages.
struct StatsSource {
  ErrorKind kind;    // kData or kCheckpoint
  std::string name;  // a file
};

inline constexpr double kNormalizationEps = 1e-8;

/// What is needed to normalize: also what the state of LeRobot's (un)normalizer step holds.
struct Normalization {
  config::Features features;
  config::NormalizationMap norm_map;
  Stats stats;  // of every feature of the dataset, whether it is normalized or not
  double eps = kNormalizationEps;
};

/// Brings features to a common scale and back, as LeRobot's normalizer steps do. Works on the device it is made for.
///
///   MEAN_STD    (x - mean) / (std + eps)          back: x * std + mean
///   MIN_MAX     2 (x - min) / (max - min) - 1     QUANTILES: q01, q99; QUANTILE10: q10, q90; eps for a span of 0
///   IDENTITY    x                                 also for feature types that have no mode
class Normalizer {
 public:
  /// Throws Error(source.kind) naming feature and statistic when one that is needed is missing, not finite, or has a
  /// shape that does not fit its feature.
  Normalizer(Normalization normalization, const at::Device& device, const StatsSource& source);

  /// The batch with its features normalized (float32). Other tensors pass unchanged.
  Batch normalize(Batch batch) const;
  /// (..., A) in units of the dataset.
  at::Tensor unnormalize_action(const at::Tensor& action) const;

  /// Visual statistics have the shape (C, 1, 1) here, and count (1, 1, 1).
  const Normalization& normalization() const { return normalization_; }
  /// The step's state file: "<feature>.<statistic>", float32.
  OrderedMap<at::Tensor> state() const;
  /// Dimensions that never change in the data, as "observation.state[2]": normalized, they are constant too.
  std::vector<std::string> constant_dimensions() const;

 private:
  struct Scaling {
    config::NormalizationMode mode;
    at::Tensor low;      // mean, or the lower bound
    at::Tensor span;     // std, or the distance of the bounds
    at::Tensor divisor;  // std + eps, or the span
  };

  Normalization normalization_;
  OrderedMap<Scaling> scalings_;
};

/// The statistics that a policy's normalization needs, by feature; nothing of features that stay as they are.
OrderedMap<std::vector<std::string>> needed_statistics(const config::PolicyConfig& config);

/// The normalizers of inputs and outputs, and of outputs alone, as a policy's two processors have them.
struct Processors {
  Normalizer pre, post;
};

/// For a policy whose features are filled in. Warns once of constant dimensions.
Processors make_processors(const config::PolicyConfig& config, const Stats& stats, const at::Device& device,
                           const StatsSource& source);

}  // namespace lerobot::policy
