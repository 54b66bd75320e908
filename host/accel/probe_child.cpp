
#include <algorithm>
#include <array>

#include "host/accel/abi.h"
#include "host/accel/child_process.h"
#include "host/accel/library.h"
#include "host/accel/probe.h"
#include "host/accel/probe_message.h"
#include "host/base/error.h"
#include "plugin-api/include/lerobot_accel.h"

namespace lerobot::accel {
namespace {

constexpr std::size_t kDevices = 64;

const char* reason_code_name(std::uint32_t code) {
  switch (code) {
    case LRA_REASON_NONE:
      return "";
    case LRA_REASON_NO_DEVICE:
      return "no-device";
    case LRA_REASON_NO_DRIVER:
      return "no-driver";
    case LRA_REASON_DRIVER_TOO_OLD:
      return "driver-too-old";
    case LRA_REASON_HIDDEN_BY_ENVIRONMENT:
      return "hidden";
    case LRA_REASON_LIBRARY_MISSING:
      return "library-missing";
    case LRA_REASON_ARCHITECTURE:
      return "architecture";
    case LRA_REASON_NOT_PERMITTED:
      return "not-permitted";
    case LRA_REASON_TORCH:
      return "torch";
    default:
      return "other";
  }
}

ProbedDevice convert(const lra_device_info& info) {
  ProbedDevice device;
  device.name = bounded_text(info.name);
  device.architecture = bounded_text(info.architecture);
  device.pci_address = bounded_text(info.pci_address);
  device.uuid = bounded_text(info.uuid);
  device.memory_total = info.memory_total;
  device.capabilities = info.capabilities;
  return device;
}

ProbeResult ask(lra_probe_fn probe, const ProbeRequest& request) {
  lra_probe_args args{};
  args.struct_size = sizeof args;
  args.abi_major_min = kAbiMajorMin;
  args.abi_major_max = kAbiMajorMax;
  const std::string directory = request.package_directory.string();
  args.package_directory = directory.c_str();
  args.package_directory_size = directory.size();
  args.device_archs = request.device_archs.c_str();
  args.device_archs_size = request.device_archs.size();
  const std::string torch = request.torch_directory.string();
  args.torch_directory = torch.c_str();
  args.torch_directory_size = torch.size();
  args.torch_version = request.torch_version.c_str();
  args.torch_version_size = request.torch_version.size();
  std::array<lra_device_info, kDevices> devices{};
  for (lra_device_info& device : devices) device.struct_size = sizeof device;
  lra_probe_result answer{};
  answer.struct_size = sizeof answer;
  answer.device_capacity = kDevices;
  answer.devices = devices.data();
  lra_error error{};
  error.struct_size = sizeof error;
  check_status(probe(&args, &answer, &error), error, LRA_PROBE_SYMBOL);

  ProbeResult result;
  if (answer.availability != LRA_PROBE_USABLE && answer.availability != LRA_PROBE_UNAVAILABLE) {
    fail(ErrorKind::kDevice, "{} answered neither usable nor unavailable ({})", LRA_PROBE_SYMBOL, answer.availability);
  }
  result.usable = answer.availability == LRA_PROBE_USABLE;
  result.reason_code = reason_code_name(answer.reason_code);
  result.reason = bounded_text(answer.reason);
  result.cure = bounded_text(answer.hint);
  result.driver_version = bounded_text(answer.driver_version);
  result.device_count = answer.device_count;
  const std::size_t listed = std::min<std::size_t>(answer.device_count, kDevices);
  for (std::size_t i = 0; i < listed; ++i) result.devices.push_back(convert(devices[i]));
  if (result.usable && result.device_count == 0) {
    fail(ErrorKind::kDevice, "{} answered usable, and no device", LRA_PROBE_SYMBOL);
  }
  if (!result.usable && result.reason.empty()) result.reason = "unavailable; its probe gives no reason";
  return result;
}

ProbeResult probe_in_this_process(const std::string& line) {
  try {
    const ProbeRequest request = read_request(line);
    for (const auto& path : request.preload) Library::open(path);
    const Library library = Library::open(request.library);
    void* symbol = library.find(LRA_PROBE_SYMBOL);
    if (!symbol) {
      fail(ErrorKind::kDevice, "{}: exports no {}", request.library.filename().string(), LRA_PROBE_SYMBOL);
    }
    return ask(reinterpret_cast<lra_probe_fn>(symbol), request);
  } catch (const std::exception& error) {
    ProbeResult result;
    result.reason_code = "failed";
    result.reason = error.what();
    return result;
  }
}

}  // namespace

void run_probe_child(const std::string& request) {
  answer_parent([&] { return write_result(probe_in_this_process(request)); });
}

}  // namespace lerobot::accel
