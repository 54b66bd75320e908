#include "kernels.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <array>

#include "allocator.h"
#include "controls.h"
#include "counters.h"
#include "fallback.h"
#include "guard.h"
#include "hooks.h"

namespace lerobot::simaccel {
namespace {

using c10::IntArrayRef;
using std::optional;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

c10::Device chosen(optional<c10::Device> device) {
  return device ? with_index(*device) : current_device();
}

c10::ScalarType chosen(optional<c10::ScalarType> dtype) {
  const c10::ScalarType type = dtype.value_or(c10::get_default_dtype_as_scalartype());
  check_dtype(type);
  return type;
}

at::Tensor empty(IntArrayRef size, optional<c10::ScalarType> dtype, optional<c10::Layout>, optional<c10::Device> device,
                 optional<bool>, optional<c10::MemoryFormat> format) {
  const c10::DeviceGuard guard(chosen(device));
  return at::detail::empty_generic(size, allocator(), kKeys, chosen(dtype), format);
}

at::Tensor empty_strided(IntArrayRef size, IntArrayRef stride, optional<c10::ScalarType> dtype, optional<c10::Layout>,
                         optional<c10::Device> device, optional<bool>) {
  const c10::DeviceGuard guard(chosen(device));
  return at::detail::empty_strided_generic(size, stride, allocator(), kKeys, chosen(dtype));
}

/// A CPU tensor, or a device tensor as one.
at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.device().is_cpu() ? tensor : HostCall(tensor.device()).to_host(tensor);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  if (to.device().is_cpu()) ++counters().devices[from.device().index()].reads;
  on_host(to).copy_(on_host(from));
  return to;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset, IntArrayRef size,
                        IntArrayRef stride) {
  c10::TensorImpl& impl = *self.unsafeGetTensorImpl();
  impl.set_storage_keep_dtype(std::move(source));
  impl.set_sizes_contiguous(size);
  if (!stride.empty()) impl.set_sizes_and_strides(size, stride);
  impl.set_storage_offset(offset);
  return self;
}

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight, const optional<at::Tensor>& bias,
                       IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                       IntArrayRef output_padding, std::int64_t groups) {
  HostCall call(input.device());
  count_by_type(counters().devices[call.device().index()].convolutions, input.scalar_type());
  const at::Tensor host_bias = call.to_host(bias.value_or(at::Tensor()));
  return call.to_device(at::convolution(call.to_host(input), call.to_host(weight), host_bias, stride, padding, dilation,
                                        transposed, output_padding, groups));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(const at::Tensor& grad, const at::Tensor& input,
                                                                    const at::Tensor& weight, IntArrayRef stride,
                                                                    IntArrayRef padding, IntArrayRef dilation,
                                                                    bool transposed, IntArrayRef output_padding,
                                                                    std::int64_t groups, std::array<bool, 3> mask) {
  HostCall call(grad.device());
  count_by_type(counters().devices[call.device().index()].convolutions, grad.scalar_type());
  const std::int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  const auto [grad_input, grad_weight, grad_bias] =
      at::convolution_backward(call.to_host(grad), call.to_host(input), call.to_host(weight), IntArrayRef(&channels, 1),
                               stride, padding, dilation, transposed, output_padding, groups, mask);
  return {call.to_device(grad_input), call.to_device(grad_weight), call.to_device(grad_bias)};
}

/// Dropout with the arithmetic of the CPU's, which has no fused kernel: the "mask" holds 0 and 1 / (1 - p), so that
/// both devices come to the same bits.
std::tuple<at::Tensor, at::Tensor> dropout(const at::Tensor& input, double p, optional<bool>) {
  HostCall call(input.device());
  const at::Tensor host = call.to_host(input);
  const at::Tensor noise = at::empty_like(host).bernoulli_(1 - p, host_generator({}, input.device())).div_(1 - p);
  return {call.to_device(at::mul(host, noise)), call.to_device(noise)};
}

at::Tensor dropout_backward(const at::Tensor& grad, const at::Tensor& noise, double) {
  return at::mul(grad, noise);
}

/// The CPU's kernel; the controls may make it find an overflow that is not there.
void unscale(at::TensorList gradients, at::Tensor& found_inf, const at::Tensor& inv_scale) {
  HostCall call(found_inf.device());
  at::Tensor found = call.to_host(found_inf);
  at::_amp_foreach_non_finite_check_and_unscale_(call.to_host(gradients), found, call.to_host(inv_scale));
  const std::uint64_t number = ++counters().devices[call.device().index()].unscales;
  const auto controls = simaccel::controls();
  const auto& forced = controls->overflow_at;
  if (std::find(forced.begin(), forced.end(), number) != forced.end()) found.fill_(1);
}

}  // namespace

void register_kernels() {
  static auto* const m =
      new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  m->impl("empty.memory_format", TORCH_FN(empty));
  m->impl("empty_strided", TORCH_FN(empty_strided));
  m->impl("_copy_from", TORCH_FN(copy_from));
  m->impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage));
  m->impl("convolution_overrideable", TORCH_FN(convolution));
  m->impl("convolution_backward_overrideable", TORCH_FN(convolution_backward));
  // Torch has a composition of smaller operators for devices without a kernel, which rounds otherwise than the CPU's.
  for (const char* name : {"native_layer_norm", "native_group_norm"}) {
    m->impl(name, torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
  }
  m->impl("native_dropout", TORCH_FN(dropout));
  m->impl("native_dropout_backward", TORCH_FN(dropout_backward));
  m->impl("_amp_foreach_non_finite_check_and_unscale_", TORCH_FN(unscale));
}

}  // namespace lerobot::simaccel
