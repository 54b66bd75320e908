#include "host/accel/hardware.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "host/base/format.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

/// Where a processor's own graphics sit on every x86 machine that has them.
constexpr std::string_view kProcessorGraphics = ":00:02.0";

/// A sysfs attribute such as "0x10de", without the 0x.
std::string attribute(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in.width(32);
  in >> word;
  return word.starts_with("0x") ? word.substr(2) : word;
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code ec;
  fs::directory_iterator it(directory, ec);
  for (; !ec && it != fs::directory_iterator(); it.increment(ec)) found.push_back(it->path());
  std::ranges::sort(found);
  return found;
}

std::vector<PciDevice> scan_pci(const fs::path& sysroot) {
  std::vector<PciDevice> devices;
  for (const fs::path& entry : entries(sysroot / "sys/bus/pci/devices")) {
    const std::string pci_class = attribute(entry / "class");
    if (!pci_class.starts_with("03") && !pci_class.starts_with("12")) continue;  // display, processing accelerator
    const std::string vendor_id = attribute(entry / "vendor");
    PciDevice device{entry.filename().string(), vendor_id, vendor_id + ":" + attribute(entry / "device"), true};
    const auto backend = std::ranges::find(kBackends, std::string_view(vendor_id), &Backend::pci_vendor);
    if (!vendor_id.empty() && backend != std::end(kBackends)) {
      device.vendor = backend->vendor;
      device.accelerator = !device.address.ends_with(kProcessorGraphics);
    } else if (pci_class.starts_with("03")) {
      continue;  // a virtual machine's or server board's screen
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

bool is_node_of_interest(const std::string& name) {
  return name == "kfd" || name == "dxg" || name == "nvidiactl" ||
         (name.starts_with("nvidia") && name.size() > 6 && name[6] >= '0' && name[6] <= '9');
}

void add_node(std::vector<DeviceNode>& nodes, const fs::path& path, const fs::path& sysroot) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return;
  DeviceNode node;
  node.path = "/" + path.lexically_relative(sysroot).string();
  node.permitted = ::access(path.c_str(), R_OK | W_OK) == 0;
  node.mode = status.st_mode & 07777;
  node.group = status.st_gid;
  nodes.push_back(std::move(node));
}

std::string own_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (std::ranges::find(groups, ::getegid()) == groups.end()) groups.insert(groups.begin(), ::getegid());
  std::vector<std::string> names;
  for (const gid_t group : groups) names.push_back(std::to_string(group));
  return join(names, ", ");
}

}  // namespace

fs::path hardware_sysroot(const Variables& variables) {
  const auto moved = variables.find("LEROBOT_ACCEL_SYSROOT");
  return moved == variables.end() || moved->second.empty() ? fs::path("/") : fs::absolute(moved->second);
}

HardwareScan scan_hardware(const fs::path& sysroot) {
  HardwareScan scan;
  scan.pci = scan_pci(sysroot);
  for (const fs::path& path : entries(sysroot / "dev")) {
    if (is_node_of_interest(path.filename().string())) add_node(scan.nodes, path, sysroot);
  }
  for (const fs::path& path : entries(sysroot / "dev/dri")) {
    if (path.filename().string().starts_with("renderD")) add_node(scan.nodes, path, sysroot);
  }
  for (const fs::path& path : entries(sysroot / "dev/accel")) add_node(scan.nodes, path, sysroot);
  return scan;
}

std::vector<std::string> describe(const HardwareScan& scan) {
  std::vector<std::string> lines;
  for (const PciDevice& device : scan.pci) {
    lines.push_back(format("{} {} at {}{}", device.vendor, device.id, device.address,
                           device.accelerator ? "" : " (the processor's own graphics)"));
  }
  for (const DeviceNode& node : scan.nodes) {
    if (node.permitted) {
      lines.push_back(node.path);
      continue;
    }
    lines.push_back(
        format("{}: not permitted: group {}, mode {}{}{}; this user's groups: {}. Add the user to group {}, "
               "in a container with --group-add {}",
               node.path, node.group, node.mode >> 6 & 7, node.mode >> 3 & 7, node.mode & 7, own_groups(), node.group,
               node.group));
  }
  return lines;
}

bool shows(const HardwareScan& scan, const Backend& backend) {
  return std::ranges::any_of(
      scan.pci, [&](const PciDevice& device) { return device.accelerator && device.vendor == backend.vendor; });
}

std::string seen_accelerators(const HardwareScan& scan) {
  std::vector<std::string> names;
  for (const PciDevice& device : scan.pci) {
    if (device.accelerator) names.push_back(format("{} {} at {}", device.vendor, device.id, device.address));
  }
  if (!names.empty()) return join(names, "; ");
  for (const DeviceNode& node : scan.nodes) {
    const bool of_accelerator = !node.path.starts_with("/dev/dri/") && node.path != "/dev/nvidiactl";
    if (of_accelerator) names.push_back(node.path);
  }
  return join(names, "; ");
}

}  // namespace lerobot::accel
