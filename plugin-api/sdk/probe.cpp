#include "sdk/probe.h"

#include "sdk/handshake.h"
#include "sdk/structs.h"

namespace lerobot::sdk {
namespace {

std::string text(const char* data, std::uint64_t size) {
  if (data == nullptr && size != 0) throw Failure(LRA_INVALID_ARGUMENT, "lra_probe_args: a text is null");
  return data == nullptr ? std::string() : std::string(data, static_cast<std::size_t>(size));
}

ProbeRequest read_request(const lra_probe_args& args) {
  ProbeRequest request;
  request.package_directory = text(args.package_directory, args.package_directory_size);
  request.torch_directory = text(args.torch_directory, args.torch_directory_size);
  request.torch_version = text(args.torch_version, args.torch_version_size);
  request.device_archs = split(text(args.device_archs, args.device_archs_size), ';');
  return request;
}

/// The caller's elements stand struct_size apart, which may be more or less than this plugin's sizeof.
void write_devices(const lra_probe_result& result, const std::vector<lra_device_info>& devices) {
  const std::size_t count = std::min<std::size_t>(result.device_capacity, devices.size());
  if (count == 0) return;
  const std::uint32_t stride = result.devices->struct_size;
  for (std::size_t i = 0; i < count; ++i) {
    auto* element = reinterpret_cast<lra_device_info*>(reinterpret_cast<char*>(result.devices) + i * stride);
    element->struct_size = stride;
    write_output(element, devices[i]);
  }
}

}  // namespace

void ProbeReport::refuse(std::uint32_t code, std::string why, std::string cure) {
  reason_code = code;
  reason = std::move(why);
  hint = std::move(cure);
}

void ProbeReport::refuse(const Unavailable& why) {
  refuse(why.code, why.reason, why.cure);
}

void ProbeReport::remark(const std::string& text) {
  if (!text.empty()) reason += (reason.empty() ? "" : "; ") + text;
}

std::string device_list(const std::vector<lra_device_info>& devices) {
  std::vector<std::string> texts;
  for (const lra_device_info& device : devices) {
    texts.push_back(std::string(device.name) + " (" + device.architecture + ")");
  }
  return join(texts);
}

lra_status answer_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error,
                        ProbeReport (*look)(const ProbeRequest&)) noexcept {
  return guarded(error, [&] {
    const lra_probe_args request = read_args(args, "lra_probe_args");
    check_reserved(request.reserved, "lra_probe_args.reserved");
    check_struct(result, "lra_probe_result");
    if (result->device_capacity != 0) check_array(result->devices, "lra_probe_result.devices");
    check_major(request.abi_major_min, request.abi_major_max);

    const ProbeReport report = look(read_request(request));
    write_devices(*result, report.devices);
    lra_probe_result answer{};
    answer.availability = report.reason_code == LRA_REASON_NONE ? LRA_PROBE_USABLE : LRA_PROBE_UNAVAILABLE;
    answer.reason_code = report.reason_code;
    answer.device_capacity = result->device_capacity;
    answer.devices = result->devices;
    answer.device_count = static_cast<std::uint32_t>(report.devices.size());
    copy_text(answer.driver_version, report.driver_version);
    copy_text(answer.reason, report.reason);
    copy_text(answer.hint, report.hint);
    write_output(result, answer);
  });
}

}  // namespace lerobot::sdk
