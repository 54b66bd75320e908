#include "sdk/torch/device.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <array>
#include <mutex>

#include "sdk/failure.h"

namespace lerobot::sdk {
namespace {

using Cells = std::array<float, 4>;

/// A 2x2 float32 matrix on the device.
at::Tensor matrix(const Cells& cells, c10::Device device) {
  at::Tensor host = at::empty({2, 2}, at::TensorOptions(at::kFloat));
  std::copy(cells.begin(), cells.end(), host.mutable_data_ptr<float>());
  return host.to(device);
}

void expect(const at::Tensor& result, const Cells& expected, const char* operation, c10::Device device) {
  const at::Tensor host = result.to(at::kCPU, at::kFloat).contiguous();  // in an autocast scope it may be bf16
  if (!std::equal(expected.begin(), expected.end(), host.const_data_ptr<float>())) {
    throw Failure(LRA_INTERNAL, std::string("selftest: ") + operation + " on " + device.str() + " gave wrong numbers",
                  "The device or its driver is broken; see the vendor's diagnostics.");
  }
}

}  // namespace

void activate(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
}

void synchronize(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

void seed_generator(c10::Device device, std::uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

void check_arithmetic(c10::Device device) {
  // Small whole numbers: exact in every precision that a device may use for float32 (TF32 included).
  const at::Tensor a = matrix({1, 2, 3, 4}, device);
  const at::Tensor b = matrix({5, 6, 7, 8}, device);
  expect(at::add(a, b), {6, 8, 10, 12}, "an addition", device);
  expect(at::matmul(a, b), {19, 22, 43, 50}, "a matrix product", device);
}

}  // namespace lerobot::sdk
