#include "host/accel/probe_message.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

#include "host/base/json.h"

namespace lerobot::accel {
namespace bj = boost::json;
namespace {

constexpr std::size_t kMaxDevices = 1024;

std::string text(const bj::object& object, std::string_view key) {
  return std::string(object.at(key).as_string());
}

std::uint64_t number(const bj::object& object, std::string_view key) {
  return bj::value_to<std::uint64_t>(object.at(key));
}

bj::object write_device(const ProbedDevice& device) {
  return {{"name", device.name}, {"architecture", device.architecture}, {"pci_address", device.pci_address},
          {"uuid", device.uuid}, {"memory_total", device.memory_total}, {"capabilities", device.capabilities}};
}

ProbedDevice read_device(const bj::object& object) {
  ProbedDevice device;
  device.name = text(object, "name");
  device.architecture = text(object, "architecture");
  device.pci_address = text(object, "pci_address");
  device.uuid = text(object, "uuid");
  device.memory_total = number(object, "memory_total");
  device.capabilities = number(object, "capabilities");
  return device;
}

}  // namespace

std::string write_request(const ProbeRequest& request) {
  bj::array preload;
  for (const auto& path : request.preload) preload.emplace_back(path.string());
  return bj::serialize(bj::object{{"library", request.library.string()},
                                  {"package_directory", request.package_directory.string()},
                                  {"device_archs", request.device_archs},
                                  {"torch_directory", request.torch_directory.string()},
                                  {"torch_version", request.torch_version},
                                  {"preload", std::move(preload)}});
}

ProbeRequest read_request(const std::string& line) {
  try {
    const bj::value value = json::parse(line, "probe request", ErrorKind::kInternal);
    const bj::object& object = value.as_object();
    ProbeRequest request;
    request.library = text(object, "library");
    request.package_directory = text(object, "package_directory");
    request.device_archs = text(object, "device_archs");
    request.torch_directory = text(object, "torch_directory");
    request.torch_version = text(object, "torch_version");
    for (const bj::value& path : object.at("preload").as_array()) {
      request.preload.emplace_back(std::string(path.as_string()));
    }
    return request;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail(ErrorKind::kInternal, "not a probe request: {}", error.what());
  }
}

std::string write_result(const ProbeResult& result) {
  bj::array devices;
  for (const ProbedDevice& device : result.devices) devices.push_back(write_device(device));
  return bj::serialize(bj::object{{"usable", result.usable},
                                  {"reason_code", result.reason_code},
                                  {"reason", result.reason},
                                  {"cure", result.cure},
                                  {"driver_version", result.driver_version},
                                  {"device_count", result.device_count},
                                  {"devices", std::move(devices)}});
}

ProbeResult read_result(const std::string& line) {
  try {
    const bj::value value = json::parse(line, "probe answer", ErrorKind::kDevice);
    const bj::object& object = value.as_object();
    ProbeResult result;
    result.usable = object.at("usable").as_bool();
    result.reason_code = text(object, "reason_code");
    result.reason = text(object, "reason");
    result.cure = text(object, "cure");
    result.driver_version = text(object, "driver_version");
    result.device_count = bj::value_to<std::uint32_t>(object.at("device_count"));
    const bj::array& devices = object.at("devices").as_array();
    if (devices.size() > kMaxDevices) fail(ErrorKind::kDevice, "the probe answered with {} devices", devices.size());
    for (const bj::value& device : devices) result.devices.push_back(read_device(device.as_object()));
    return result;
  } catch (const std::exception&) {
    fail(ErrorKind::kDevice, "the probe's answer makes no sense");
  }
}

}  // namespace lerobot::accel
