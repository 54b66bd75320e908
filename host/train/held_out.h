#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "host/data/dataset.h"
#include "host/data/loader.h"
#include "host/policy/policy.h"

namespace lerobot::train {

/// What a held-out loss is computed from. The policy outlives the HeldOut.
struct HeldOutParts {
  std::shared_ptr<const data::Dataset> dataset;
  data::LoaderOptions loading;  ///< with `rows`
  policy::Policy* policy = nullptr;
  /// Tensors as training has them: on the device, normalized.
  std::function<policy::Batch(const data::Batch&)> prepare;
  /// The policy's loss in training's precision.
  std::function<policy::Loss(const policy::Batch&)> forward;
};

/// The loss on data that is not trained on. Its loader's threads and batches live only while it is computed.
class HeldOut {
 public:
  explicit HeldOut(HeldOutParts parts) : parts_(std::move(parts)) {}

  /// The mean over the batches of the batch's loss, out of training mode and without gradients; the policy is in
  /// training mode afterwards. Takes one number from torch's CPU generator, as Python's data loader does. Nothing when
  /// SIGINT or SIGTERM arrived: at most one batch is computed after that.
  std::optional<double> loss();

 private:
  HeldOutParts parts_;
};

}  // namespace lerobot::train
