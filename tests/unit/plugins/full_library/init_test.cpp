// Full libraries of hardware that this torch does not know: refused with a reason, not with a crash at the first
// tensor.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <lerobot_accel.h>
#include <torch/version.h>

#include <string>

extern "C" std::uint64_t aoti_torch_abi_version();

namespace lerobot::test {
namespace {

using testing::HasSubstr;

/// The table of a staged plugin. The library stays loaded: unloading one is never safe.
lra_api load(const std::string& id) {
  EXPECT_NE(aoti_torch_abi_version(), 0u) << "torch is in this process";
  const std::string path = LEROBOT_STAGE "/lib/lerobot/accel.d/" + id + "/liblerobot_accel_" + id + ".so";
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  lra_api api{};
  if (handle == nullptr) {
    ADD_FAILURE() << dlerror();
    return api;
  }
  const std::string version = TORCH_VERSION, cxx_abi = LRA_CXX_ABI;
  lra_host_info host{};
  host.struct_size = sizeof(host);
  host.abi_major_min = host.abi_major_max = LRA_VERSION_MAJOR;
  host.torch_version = version.data();
  host.torch_version_size = version.size();
  host.cxx_abi = cxx_abi.data();
  host.cxx_abi_size = cxx_abi.size();
  api.struct_size = sizeof(api);
  lra_error error{};
  error.struct_size = sizeof(error);
  EXPECT_EQ(reinterpret_cast<lra_get_api_fn>(dlsym(handle, LRA_GET_API_SYMBOL))(&host, &api, &error), LRA_OK)
      << error.message;
  return api;
}

/// What init says; it must refuse.
lra_error refused_init(const lra_api& api) {
  lra_init_args args{};
  args.struct_size = sizeof(args);
  lra_context* context = nullptr;
  lra_error error{};
  error.struct_size = sizeof(error);
  EXPECT_EQ(api.init(&args, &context, &error), LRA_UNAVAILABLE) << error.message;
  EXPECT_EQ(context, nullptr);
  return error;
}

TEST(XpuLibrary, RefusesATorchWithoutXpu) {
  const lra_api api = load("xpu");
  ASSERT_NE(api.init, nullptr);
  EXPECT_NE(api.tf32_set, nullptr);
  const lra_error error = refused_init(api);
  EXPECT_STREQ(error.message, "the torch in this process was built without XPU");
  EXPECT_THAT(error.hint, HasSubstr("LEROBOT_TORCH_DIR"));
}

TEST(MpsLibrary, RefusesATorchWithoutMps) {
  const lra_api api = load("mps");
  ASSERT_NE(api.init, nullptr);
  EXPECT_EQ(api.tf32_set, nullptr) << "there is no TF32 on Apple's GPUs";
  const lra_error error = refused_init(api);
  EXPECT_THAT(error.message, HasSubstr("built without MPS"));
  EXPECT_THAT(error.hint, HasSubstr("LEROBOT_TORCH_DIR"));
}

}  // namespace
}  // namespace lerobot::test
