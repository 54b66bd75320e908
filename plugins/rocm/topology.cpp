#include "topology.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "sdk/driver.h"
#include "sdk/text.h"

namespace lerobot::plugins::rocm {
namespace {

using Properties = std::map<std::string, unsigned long>;

/// Lines of "name number".
Properties read_properties(const std::string& path) {
  Properties properties;
  for (const std::string& line : sdk::split(sdk::read_text(path), '\n')) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) properties[line.substr(0, space)] = std::strtoul(line.c_str() + space, nullptr, 10);
  }
  return properties;
}

unsigned long value(const Properties& properties, const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

/// location_id holds bus, device and function as the bus numbers them: 8, 5 and 3 bits.
std::string pci_address(unsigned long domain, unsigned long location) {
  char text[32];
  std::snprintf(text, sizeof text, "%04lx:%02lx:%02lx.%lx", domain & 0xffff, location >> 8 & 0xff, location >> 3 & 0x1f,
                location & 7);
  return text;
}

std::string hexadecimal(unsigned long digit) {
  char text[20];
  std::snprintf(text, sizeof text, "%lx", digit);
  return text;
}

}  // namespace

std::string architecture_name(unsigned long version) {
  if (version == 0) return {};
  return "gfx" + std::to_string(version / 10000) + hexadecimal(version / 100 % 100) + hexadecimal(version % 100);
}

std::vector<GpuNode> read_topology(const std::string& sysroot) {
  const std::string root = sysroot + "/sys/class/kfd/kfd/topology/nodes";
  std::vector<std::string> names = sdk::directory_entries(root);
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::atoi(a.c_str()) < std::atoi(b.c_str());
  });
  std::vector<GpuNode> nodes;
  for (const std::string& name : names) {
    const Properties properties = read_properties(root + "/" + name + "/properties");
    if (value(properties, "simd_count") == 0) continue;
    GpuNode node;
    node.architecture = architecture_name(value(properties, "gfx_target_version"));
    node.pci_address = pci_address(value(properties, "domain"), value(properties, "location_id"));
    if (const unsigned long minor = value(properties, "drm_render_minor"); minor != 0) {
      node.render_minor = static_cast<int>(minor);
    }
    node.unified_memory = value(properties, "cpu_cores_count") != 0;
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace lerobot::plugins::rocm
