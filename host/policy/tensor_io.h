#pragma once

#include <ATen/core/Tensor.h>

#include "host/base/safetensors.h"

// Between safetensors files, which know no torch, and tensors.

namespace lerobot::policy {

/// torch's name of an element type.
at::ScalarType scalar_type(DType dtype);

/// A copy on the CPU.
at::Tensor to_tensor(const TensorView& view);
/// Copies of all tensors of a file, in the file's order.
OrderedMap<at::Tensor> to_tensors(const SafetensorsFile& file);

/// Tensors made ready to be written: contiguous, on the CPU (copies where they are not).
class HostTensors {
 public:
  explicit HostTensors(const OrderedMap<at::Tensor>& tensors);
  /// Valid as long as this object lives. Throws Error(kInternal) for an element type that safetensors cannot hold.
  const OrderedMap<TensorView>& views() const { return views_; }

 private:
  OrderedMap<at::Tensor> tensors_;
  OrderedMap<TensorView> views_;
};

}  // namespace lerobot::policy
