// Every operator that has no kernel of its own runs the CPU's over the same memory.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

#include "counters.h"

namespace lerobot::simaccel {

/// One operator call, seen from the host: its device tensors as CPU tensors over the same memory, and back again.
/// Tensors that share memory on the device share it here, so that overlaps are found and views stay views.
class HostCall {
 public:
  /// The call of an operator on `device`: it is counted, and the controls may delay or hang it.
  explicit HostCall(c10::Device device);

  c10::Device device() const { return device_; }

  /// The tensor as the CPU's kernels take it: undefined and CPU tensors stay as they are, but only single values may
  /// come from the CPU. Throws for a tensor of another device.
  at::Tensor to_host(const at::Tensor& tensor);
  std::vector<at::Tensor> to_host(at::TensorList tensors);

  /// What a kernel returned, as the caller may see it: the device tensor it was given, a view of one, or a new one that
  /// takes over the memory.
  at::Tensor to_device(const at::Tensor& host);

  /// Gives the device tensor the size and memory that its host tensor got from the kernel (operators with `out`).
  void write_back(const at::Tensor& tensor);

 private:
  struct Pair {
    at::Tensor device;
    at::Tensor host;
  };
  c10::Storage host_storage(const c10::Storage& device);
  const Pair* with_host_storage(const c10::Storage& host) const;
  c10::Storage device_storage(const at::Tensor& host) const;

  c10::Device device_;
  std::vector<Pair> pairs_;
};

/// Throws for a float64 tensor on a device without float64.
void check_dtype(c10::ScalarType dtype);

/// Adds one to the count of a type, if that is one of those counted.
void count_by_type(CountsByType& counts, c10::ScalarType type);

/// The fallback: the CPU's kernel for the operator, over the same memory.
void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Registers it for all operators without a kernel. Once per process.
void register_fallback();

}  // namespace lerobot::simaccel
