#include "host/fused/row_selection.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "host/fused/parallel.h"

namespace lerobot::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// copy(i, row) for each index, with the row's place in the larger matrix.
template <class Copy>
void for_each_index(const at::Tensor& indices, std::int64_t width, const Copy& copy) {
  const auto* rows = indices.const_data_ptr<std::int64_t>();
  parallel_for(indices.numel(), grain_of(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) copy(i * width, rows[i] * width);
  });
}

at::Tensor take(const at::Tensor& any, const at::Tensor& indices) {
  const at::Tensor x = any.contiguous();
  const std::int64_t width = x.size(1);
  at::Tensor y = at::empty({indices.numel(), width}, x.options());
  const auto* from = x.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  for_each_index(indices, width,
                 [&](std::int64_t packed, std::int64_t row) { std::copy_n(from + row, width, to + packed); });
  return y;
}

at::Tensor put(const at::Tensor& any, const at::Tensor& indices, std::int64_t n) {
  const at::Tensor x = any.contiguous();
  const std::int64_t width = x.size(1);
  at::Tensor y = at::zeros({n, width}, x.options());
  const auto* from = x.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  for_each_index(indices, width,
                 [&](std::int64_t packed, std::int64_t row) { std::copy_n(from + packed, width, to + row); });
  return y;
}

struct TakeRows : torch::autograd::Function<TakeRows> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& indices) {
    context->save_for_backward({indices});
    context->saved_data["n"] = x.size(0);
    return take(x, indices);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {put(gradients[0], context->get_saved_variables()[0], context->saved_data["n"].toInt()), at::Tensor()};
  }
};

struct PutRows : torch::autograd::Function<PutRows> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& indices, std::int64_t n) {
    context->save_for_backward({indices});
    return put(x, indices, n);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {take(gradients[0], context->get_saved_variables()[0]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor take_rows(const at::Tensor& x, const at::Tensor& indices) {
  return TakeRows::apply(x, indices);
}

at::Tensor put_rows(const at::Tensor& x, const at::Tensor& indices, std::int64_t n) {
  return PutRows::apply(x, indices, n);
}

}  // namespace lerobot::fused
