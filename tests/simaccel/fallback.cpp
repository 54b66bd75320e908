#include "fallback.h"

#include <ATen/core/List.h>
#include <c10/core/CPUAllocator.h>
#include <torch/library.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_set>

#include "allocator.h"
#include "controls.h"
#include "guard.h"
#include "hooks.h"

namespace lerobot::simaccel {
namespace {

/// A tensor over a storage, placed in it like `like`.
at::Tensor tensor_over(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return at::Tensor(std::move(impl));
}

bool same_storage(const c10::Storage& a, const c10::Storage& b) {
  return a.unsafeGetStorageImpl() == b.unsafeGetStorageImpl();
}

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

HostCall::HostCall(c10::Device device) : device_(with_index(device)) {
  const auto controls = simaccel::controls();
  if (count_operator(device_.index()) == controls->hang_at) hang();
  if (controls->delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(controls->delay_us));
}

at::Tensor HostCall::to_host(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  if (tensor.device().is_cpu() && tensor.dim() == 0) return tensor;
  TORCH_CHECK(tensor.device() == device_, "simaccel: a tensor is on ", tensor.device(), ", the others are on ",
              device_);
  at::Tensor host = tensor_over(host_storage(tensor.storage()), c10::DispatchKey::CPU, tensor);
  pairs_.push_back({tensor, host});
  return host;
}

std::vector<at::Tensor> HostCall::to_host(at::TensorList tensors) {
  std::vector<at::Tensor> hosts;
  hosts.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) hosts.push_back(to_host(tensor));
  return hosts;
}

c10::Storage HostCall::host_storage(const c10::Storage& device) {
  for (const Pair& pair : pairs_) {
    if (same_storage(pair.device.storage(), device)) return pair.host.storage();
  }
  const auto release = [](void* kept) { delete static_cast<c10::Storage*>(kept); };
  c10::DataPtr memory(const_cast<void*>(device.data()), new c10::Storage(device), release, c10::kCPU);
  return {c10::Storage::use_byte_size_t(), device.nbytes(), std::move(memory), c10::GetCPUAllocator(),
          /*resizable=*/true};
}

const HostCall::Pair* HostCall::with_host_storage(const c10::Storage& host) const {
  for (const Pair& pair : pairs_) {
    if (same_storage(pair.host.storage(), host)) return &pair;
  }
  return nullptr;
}

/// The device's storage over the memory of a tensor that a kernel made.
c10::Storage HostCall::device_storage(const at::Tensor& host) const {
  check_dtype(host.scalar_type());
  return {c10::Storage::use_byte_size_t(), host.storage().nbytes(), adopt_memory(host.storage(), device_), allocator(),
          /*resizable=*/true};
}

at::Tensor HostCall::to_device(const at::Tensor& host) {
  if (!host.defined()) return host;
  for (const Pair& pair : pairs_) {
    if (pair.host.is_same(host)) return pair.device;
  }
  const Pair* shared = with_host_storage(host.storage());
  return tensor_over(shared != nullptr ? shared->device.storage() : device_storage(host), c10::DispatchKey::PrivateUse1,
                     host);
}

void HostCall::write_back(const at::Tensor& tensor) {
  for (const Pair& pair : pairs_) {
    if (!pair.device.is_same(tensor)) continue;
    c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    // A kernel that resizes keeps the storage and gives it other memory.
    if (pair.host.storage().data() != tensor.storage().data()) {
      c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
      const c10::Storage grown = device_storage(pair.host);
      storage.set_data_ptr_noswap(std::move(grown.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks()));
      storage.set_nbytes(pair.host.storage().nbytes());
    }
    if (impl.sizes() != pair.host.sizes() || impl.strides() != pair.host.strides()) {
      impl.set_sizes_and_strides(pair.host.sizes(), pair.host.strides(), pair.host.storage_offset());
    }
    return;
  }
}

void count_by_type(CountsByType& counts, c10::ScalarType type) {
  if (type == c10::kFloat) ++counts[NumberType::kFloat32];
  if (type == c10::kHalf) ++counts[NumberType::kFloat16];
  if (type == c10::kBFloat16) ++counts[NumberType::kBFloat16];
}

void check_dtype(c10::ScalarType dtype) {
  TORCH_CHECK_TYPE(dtype != c10::kDouble || controls()->float64, "simaccel: the device has no float64");
}

namespace {

bool on_device(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kSim;
}

/// The device that an argument names, by a tensor on it or directly.
std::optional<c10::Device> device_of(const c10::IValue& value) {
  if (value.isTensor() && on_device(value.toTensor())) return value.toTensor().device();
  if (value.isDevice() && value.toDevice().type() == kSim) return value.toDevice();
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (on_device(tensor)) return tensor.device();
    }
  }
  if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      if (tensor && on_device(*tensor)) return tensor->device();
    }
  }
  return std::nullopt;
}

c10::Device device_of(c10::ArrayRef<c10::IValue> arguments) {
  for (const c10::IValue& value : arguments) {
    if (const auto device = device_of(value)) return *device;
  }
  return current_device();
}

bool takes_generator(const c10::Argument& argument) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  return optional && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
}

c10::IValue to_host(HostCall& call, const c10::IValue& value, const c10::Argument& argument) {
  if (value.isTensor()) return call.to_host(value.toTensor());
  if (value.isTensorList()) return c10::List<at::Tensor>(call.to_host(value.toTensorVector()));
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> hosts;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      // Indices may stay on the CPU, as on other devices.
      const bool move = tensor && on_device(*tensor);
      hosts.push_back(move ? std::optional(call.to_host(*tensor)) : tensor);
    }
    return hosts;
  }
  if (value.isDevice()) return c10::Device(c10::kCPU);
  if (value.isGenerator()) return host_generator(value.toGenerator(), call.device());
  if (value.isNone() && takes_generator(argument)) return host_generator({}, call.device());
  return value;
}

c10::IValue to_device(HostCall& call, const c10::IValue& value) {
  if (value.isTensor()) return call.to_device(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& host : value.toTensorVector()) tensors.push_back(call.to_device(host));
    return tensors;
  }
  return value;
}

void write_back(HostCall& call, const c10::IValue& value) {
  if (value.isTensor()) call.write_back(value.toTensor());
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) call.write_back(tensor);
  }
}

/// The operator's name without the mark of its in-place form.
std::string_view base_name(const c10::OperatorHandle& op) {
  std::string_view name = op.operator_name().name;
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

bool is_matrix_product(std::string_view name) {
  static const std::unordered_set<std::string_view> names{"aten::mm",  "aten::addmm",   "aten::_addmm_activation",
                                                          "aten::bmm", "aten::baddbmm", "aten::addbmm",
                                                          "aten::mv",  "aten::dot",     "aten::addmv"};
  return names.contains(name);
}

/// Operators whose result is a value, or has a size, that the host must know before it goes on.
bool is_read(std::string_view name) {
  static const std::unordered_set<std::string_view> names{"aten::_local_scalar_dense", "aten::equal", "aten::nonzero",
                                                          "aten::masked_select"};
  return names.contains(name);
}

void count_kind(const c10::OperatorHandle& op, c10::Device device, const c10::IValue& result) {
  const std::string_view name = base_name(op);
  DeviceCounters& counts = counters().devices[device.index()];
  if (is_matrix_product(name)) count_by_type(counts.products, result.toTensor().scalar_type());
  if (is_read(name)) ++counts.reads;
}

/// Controls: additions of a broken device.
void spoil(const c10::OperatorHandle& op, const c10::IValue& result) {
  if (controls()->wrong_sums && op.operator_name().name == "aten::add" && result.isTensor()) result.toTensor().add_(1);
}

}  // namespace

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  const auto values = torch::jit::last(*stack, arguments.size());
  HostCall call(device_of(values));
  const std::vector<c10::IValue> given(values.begin(), values.end());
  torch::jit::drop(*stack, arguments.size());
  for (std::size_t i = 0; i < given.size(); ++i) stack->push_back(to_host(call, given[i], arguments[i]));

  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);

  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto* alias = arguments[i].alias_info();
    if (alias != nullptr && alias->isWrite()) write_back(call, given[i]);
  }
  const std::size_t results = op.schema().returns().size();
  if (results == 1) count_kind(op, call.device(), stack->back());
  for (std::size_t i = stack->size() - results; i < stack->size(); ++i) {
    spoil(op, (*stack)[i]);
    (*stack)[i] = to_device(call, (*stack)[i]);
  }
}

void register_fallback() {
  static auto* const library =
      new torch::Library(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  library->fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

}  // namespace lerobot::simaccel
