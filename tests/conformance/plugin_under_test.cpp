#include "tests/conformance/plugin_under_test.h"

#include <ATen/ops/from_blob.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <cstdlib>
#include <stdexcept>

#include "host/base/json.h"

namespace lerobot::conformance {
namespace {

/// The entry of a library that stays loaded: unloading a plugin is never safe.
template <typename Function>
Function load(const std::filesystem::path& library, const char* symbol) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* entry = handle == nullptr ? nullptr : dlsym(handle, symbol);
  if (entry == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function>(entry);
}

}  // namespace

const PluginUnderTest& PluginUnderTest::get() {
  static const PluginUnderTest plugin;
  return plugin;
}

PluginUnderTest::PluginUnderTest() {
  const char* chosen = std::getenv("LEROBOT_CONFORMANCE_PACKAGE");
  const std::filesystem::path package = chosen != nullptr ? chosen : LEROBOT_STAGE "/lib/lerobot/accel.d/cpu";
  manifest_ = json::read_file(package / "manifest.json", ErrorKind::kIo).as_object();
  probe_ = load<lra_probe_fn>(package / manifest_.at("probe").as_string().c_str(), LRA_PROBE_SYMBOL);
  get_api_ = load<lra_get_api_fn>(package / manifest_.at("library").as_string().c_str(), LRA_GET_API_SYMBOL);
}

lra_host_info fitting_host() {
  static const std::string torch_version = TORCH_VERSION;
  static const std::string cxx_abi = LRA_CXX_ABI;
  auto host = sized<lra_host_info>();
  host.abi_major_min = LRA_VERSION_MAJOR;
  host.abi_major_max = LRA_VERSION_MAJOR;
  host.abi_minor = LRA_VERSION_MINOR;
  host.torch_version = torch_version.data();
  host.torch_version_size = torch_version.size();
  host.cxx_abi = cxx_abi.data();
  host.cxx_abi_size = cxx_abi.size();
  return host;
}

lra_api loaded_api() {
  const lra_host_info host = fitting_host();
  auto api = sized<lra_api>();
  auto error = sized<lra_error>();
  EXPECT_EQ(PluginUnderTest::get().get_api()(&host, &api, &error), LRA_OK) << error.message;
  return api;
}

void PluginTest::SetUp() {
  api_ = loaded_api();
  ASSERT_NE(api_.init, nullptr);
  const auto args = sized<lra_init_args>();
  const lra_status status = api_.init(&args, &context_, &error_);
  if (status == LRA_UNAVAILABLE) GTEST_SKIP() << error_.message;
  ASSERT_EQ(status, LRA_OK) << error_.message;
  std::uint32_t count = 0;
  expect_ok(api_.device_count(context_, &count, &error_));
  if (count == 0) GTEST_SKIP() << "the plugin knows no device";
  device_ = sized<lra_device_info>();
  expect_ok(api_.device_info(context_, 0, &device_, &error_));
  expect_ok(api_.activate_device(context_, 0, &error_));
}

void PluginTest::TearDown() {
  if (context_ != nullptr) expect_ok(api_.shutdown(context_, &error_));
}

void PluginTest::expect_ok(lra_status status) {
  EXPECT_EQ(status, LRA_OK) << error_.message;
}

void PluginTest::expect_refused(lra_status status, lra_status expected) {
  EXPECT_EQ(status, expected) << error_.message;
  EXPECT_EQ(error_.code, expected);
  EXPECT_STRNE(error_.message, "");
  EXPECT_EQ(std::string(error_.message).find('\n'), std::string::npos) << error_.message;
  error_ = sized<lra_error>();
}

at::Tensor PluginTest::on_device(const std::vector<float>& values, at::ScalarType dtype) const {
  const at::Tensor host = at::from_blob(const_cast<float*>(values.data()), {static_cast<std::int64_t>(values.size())},
                                        at::TensorOptions(at::kFloat));
  return host.to(c10::Device(std::string(device_.torch_device)), dtype, /*non_blocking=*/false, /*copy=*/true);
}

std::vector<float> PluginTest::values(const at::Tensor& tensor) const {
  const at::Tensor host = tensor.to(at::kCPU, at::kFloat).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

lra_tensor_view PluginTest::view(const at::Tensor& tensor) const {
  auto view = sized<lra_tensor_view>();
  view.torch_type = device_.torch_type;
  view.torch_index = device_.torch_index;
  view.dtype_code = tensor.scalar_type() == at::kBFloat16 ? LRA_DTYPE_BFLOAT
                    : tensor.is_floating_point()          ? LRA_DTYPE_FLOAT
                                                          : LRA_DTYPE_INT;
  view.dtype_bits = static_cast<std::uint8_t>(tensor.element_size() * 8);
  view.dtype_lanes = 1;
  view.ndim = static_cast<std::uint32_t>(tensor.dim());
  view.base = const_cast<void*>(tensor.storage().data());
  view.byte_offset = static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.element_size();
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    view.shape[i] = tensor.size(i);
    view.strides[i] = tensor.stride(i);
  }
  return view;
}

}  // namespace lerobot::conformance
