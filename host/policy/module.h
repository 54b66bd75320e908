#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/ordered_map.h"

// Networks as plain structs that own their tensors. torch::nn::Module is not used: its to() throws for devices that
// plugins of others bring (PrivateUse1). A struct creates its parameters on the CPU, drawing from the global generator
// in the order in which Python's constructor draws, and lists its tensors in visit(), in Python's order and names.

namespace lerobot::policy {

/// Walks through the tensors of a network and names them by their path.
class TensorVisitor {
 public:
  enum class Kind { kParameter, kBuffer };
  using Function = std::function<void(const std::string& name, at::Tensor& tensor, Kind kind)>;

  explicit TensorVisitor(Function function) : function_(std::move(function)) {}

  void parameter(std::string_view name, at::Tensor& tensor) {
    function_(path_ + std::string(name), tensor, Kind::kParameter);
  }
  void buffer(std::string_view name, at::Tensor& tensor) {
    function_(path_ + std::string(name), tensor, Kind::kBuffer);
  }
  template <class Child>
  void child(std::string_view name, Child& child) {
    const std::size_t length = path_.size();
    path_.append(name).push_back('.');
    child.visit(*this);
    path_.resize(length);
  }
  /// Children named 0, 1, ...
  template <class Children>
  void children(std::string_view name, Children& children) {
    for (std::size_t i = 0; i < children.size(); ++i) child(std::string(name) + "." + std::to_string(i), children[i]);
  }
  template <class Child>
  void child(std::string_view name, std::optional<Child>& optional) {
    if (optional) child(name, *optional);
  }

 private:
  Function function_;
  std::string path_;
};

/// Drawn as torch.nn.Linear.
struct Linear {
  at::Tensor weight;  // (out, in)
  at::Tensor bias;    // (out)

  Linear(std::int64_t in, std::int64_t out);
  void visit(TensorVisitor& visitor);
  /// (..., in) -> (..., out)
  at::Tensor operator()(const at::Tensor& x) const;
};

/// A table of learned rows, drawn as torch.nn.Embedding.
struct Embedding {
  at::Tensor weight;  // (rows, width)

  Embedding(std::int64_t rows, std::int64_t width);
  void visit(TensorVisitor& visitor);
};

struct LayerNorm {
  static constexpr double kEps = 1e-5;
  at::Tensor weight, bias;  // (width)

  explicit LayerNorm(std::int64_t width);
  void visit(TensorVisitor& visitor);
  at::Tensor operator()(const at::Tensor& x) const;
};

/// A 1x1 convolution with bias, drawn as torch.nn.Conv2d.
struct PointwiseConv2d {
  at::Tensor weight;  // (out, in, 1, 1)
  at::Tensor bias;    // (out)

  PointwiseConv2d(std::int64_t in, std::int64_t out);
  void visit(TensorVisitor& visitor);
  /// (B, in, H, W) -> (B, out, H, W)
  at::Tensor operator()(const at::Tensor& x) const;
};

}  // namespace lerobot::policy
