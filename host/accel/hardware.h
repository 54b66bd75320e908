#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/accel/backends.h"
#include "host/accel/search.h"

namespace lerobot::accel {

/// A display or processing device on the PCI bus.
struct PciDevice {
  std::string address;      ///< "0000:3b:00.0"
  std::string vendor;       ///< "NVIDIA", "AMD", ..., or the vendor's number
  std::string id;           ///< "10de:2330"
  bool accelerator = true;  ///< false for a processor's own graphics (00:02.0)
};

/// A device node of a vendor's driver.
struct DeviceNode {
  std::string path;
  bool permitted = false;  ///< this user may read and write it
  unsigned mode = 0;
  unsigned group = 0;
};

/// What the machine shows of its accelerators without any driver. Evidence for messages only: containers, WSL2 and
/// Jetson hide the bus, so an empty scan never skips a probe.
struct HardwareScan {
  std::vector<PciDevice> pci;
  std::vector<DeviceNode> nodes;
};

/// Looks below `sysroot` ("/" on a real machine; LEROBOT_ACCEL_SYSROOT moves it).
HardwareScan scan_hardware(const std::filesystem::path& sysroot);
std::filesystem::path hardware_sysroot(const Variables& variables);

/// One line for each accelerator seen, each node that this user may not open with the cure.
std::vector<std::string> describe(const HardwareScan& scan);

/// Whether one of the backend's accelerators is on the bus.
bool shows(const HardwareScan& scan, const Backend& backend);

/// Accelerators of the scan, for "seen but not used": "NVIDIA 10de:2330 at 0000:3b:00.0". Empty when there is none.
std::string seen_accelerators(const HardwareScan& scan);

}  // namespace lerobot::accel
