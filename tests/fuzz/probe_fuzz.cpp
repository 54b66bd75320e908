// Any host asks a probe, with arrays of devices of any element size: answers by the contract's rules, nothing outside.
#include <lerobot_accel.h>

#include "sdk/failure.h"
#include "sdk/probe.h"
#include "tests/fuzz/foreign_struct.h"

using namespace lerobot::test;

namespace {

lerobot::sdk::ProbeReport look(const lerobot::sdk::ProbeRequest& request) {
  lerobot::sdk::ProbeReport report;
  if (request.device_archs.size() > 2) report.reason_code = LRA_REASON_ARCHITECTURE;
  report.reason = request.torch_directory;
  lra_device_info device{};
  device.struct_size = sizeof device;
  lerobot::sdk::copy_text(device.name, request.torch_version);
  report.devices.assign(3, device);
  return report;
}

/// The caller's array: elements of one foreign size, in memory of exactly that size.
struct Devices {
  explicit Devices(Input& input) : capacity(input.take<std::uint8_t>() % 5), stride(input.take<std::uint16_t>()) {
    const std::size_t element = stride < sizeof(std::uint32_t) ? sizeof(std::uint32_t) : stride;
    memory = std::make_unique<char[]>(element * capacity + 1);
    for (std::uint32_t i = 0; i < capacity; ++i) std::memcpy(memory.get() + i * element, &stride, sizeof stride);
  }
  std::uint32_t capacity;
  std::uint32_t stride;
  std::unique_ptr<char[]> memory;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const ForeignText directory(input);
  const ForeignText archs(input);
  const ForeignText torch(input);
  const ForeignText version(input);
  const Devices devices(input);
  ForeignStruct<lra_probe_result> result(input, true);
  ForeignStruct<lra_error> error(input, true);
  ForeignStruct<lra_probe_args> args(input, false);
  if (args.has(sizeof(lra_probe_args))) {
    directory.give(args.get()->package_directory, args.get()->package_directory_size);
    archs.give(args.get()->device_archs, args.get()->device_archs_size);
    torch.give(args.get()->torch_directory, args.get()->torch_directory_size);
    version.give(args.get()->torch_version, args.get()->torch_version_size);
  }
  if (result.has(sizeof(lra_probe_result))) {
    result.get()->device_capacity = devices.capacity;
    result.get()->devices = reinterpret_cast<lra_device_info*>(devices.memory.get());
  }
  args.settle();
  result.settle();

  const lra_status status = lerobot::sdk::answer_probe(args.get(), result.get(), error.get(), look);

  require(status <= LRA_DEVICE_FAILURE);
  require(args.untouched());
  if (status == LRA_OK) {
    require(error.untouched());
    require(result.get()->struct_size <= result.size());
    require(result.get()->device_capacity == devices.capacity && result.get()->device_count == 3);
    require_terminated(result.get()->reason);
  } else {
    require(result.untouched());
  }
  return 0;
}
