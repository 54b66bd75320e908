#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "host/checkpoint/pth_file.h"

namespace lerobot::checkpoint {

/// Makes tensors in CPU memory of those in a file, which must outlive this object. Tensors that shared their memory
/// when they were saved share it again.
class PthTensors {
 public:
  explicit PthTensors(const PthFile& file) : file_(file) {}

  /// Throws Error(kCheckpoint) when the file does not hold the tensor's numbers. `name` names it in messages.
  at::Tensor get(const pickle::Tensor& tensor, std::string_view name);

 private:
  const PthFile& file_;
  std::map<std::pair<std::string, DType>, at::Tensor> storages_;
};

}  // namespace lerobot::checkpoint
