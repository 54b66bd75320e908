// Any host meets a plugin's handshake: a status by the contract's rules, outputs untouched on failure, nothing outside.
#include <lerobot_accel.h>

#include "sdk/handshake.h"
#include "tests/fuzz/foreign_struct.h"

using namespace lerobot::test;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const ForeignText torch(input);
  const ForeignText cxx_abi(input);
  const ForeignText version(input);
  ForeignStruct<lra_api> api(input, true);
  ForeignStruct<lra_error> error(input, true);
  ForeignStruct<lra_host_info> host(input, false);
  if (host.has(sizeof(lra_host_info))) {
    torch.give(host.get()->torch_version, host.get()->torch_version_size);
    cxx_abi.give(host.get()->cxx_abi, host.get()->cxx_abi_size);
    version.give(host.get()->host_version, host.get()->host_version_size);
  }
  host.settle();

  const lra_api own = lerobot::sdk::describe_plugin("fuzz", "1.0", "2.11.0");
  const lra_status status = lerobot::sdk::answer_handshake(host.get(), api.get(), error.get(), own);

  require(status <= LRA_DEVICE_FAILURE);
  require(host.untouched());
  if (status == LRA_OK) {
    require(error.untouched());
    require(api.get()->struct_size <= api.size());
    require(api.get()->abi_major == LRA_VERSION_MAJOR);
  } else {
    require(api.untouched());
    if (error.has(sizeof(lra_error)) && !error.untouched()) {
      require(error.get()->code == status);
      require_terminated(error.get()->message);
      require_terminated(error.get()->hint);
    }
  }
  return 0;
}
