// AMD's GPUs as the kernel's driver (amdgpu, its KFD part) shows them, without any library.
#pragma once

#include <string>
#include <vector>

namespace lerobot::plugins::rocm {

struct GpuNode {
  std::string architecture;  ///< "gfx942"
  std::string pci_address;   ///< "0000:43:00.0"
  int render_minor = -1;     ///< of /dev/dri/renderD<minor>; -1: not known
  bool unified_memory = false;
};

/// The GPU nodes below `sysroot`/sys/class/kfd, in the kernel's order; processors are left out.
std::vector<GpuNode> read_topology(const std::string& sysroot);

/// 90402 -> "gfx942", 90010 -> "gfx90a", 110000 -> "gfx1100"; empty for 0.
std::string architecture_name(unsigned long version);

}  // namespace lerobot::plugins::rocm
