#include "host/accel/hardware.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Hardware : public testing::Test {
 protected:
  void add_pci(const std::string& address, const std::string& pci_class, const std::string& vendor,
               const std::string& device) {
    const fs::path entry = root_.path() / "sys/bus/pci/devices" / address;
    test::write_file(entry / "class", "0x" + pci_class + "\n");
    test::write_file(entry / "vendor", "0x" + vendor + "\n");
    test::write_file(entry / "device", "0x" + device + "\n");
  }
  test::TemporaryDirectory root_;
};

TEST_F(Hardware, TellsVendorsByTheBus) {
  add_pci("0000:3b:00.0", "030200", "10de", "2330");
  add_pci("0000:43:00.0", "120000", "1002", "740f");
  add_pci("0000:03:00.0", "030000", "8086", "56a0");
  const HardwareScan scan = scan_hardware(root_.path());
  ASSERT_EQ(scan.pci.size(), 3u);
  EXPECT_EQ(scan.pci[0].vendor, "Intel");
  EXPECT_EQ(scan.pci[1].vendor, "NVIDIA");
  EXPECT_EQ(scan.pci[2].vendor, "AMD");
  EXPECT_THAT(seen_accelerators(scan), HasSubstr("NVIDIA 10de:2330 at 0000:3b:00.0"));
}

TEST_F(Hardware, IsNotTakenFromScreensDisksAndTheProcessorsOwnGraphics) {
  add_pci("0000:00:02.0", "030000", "8086", "a7a0");
  add_pci("0000:01:00.0", "030000", "1a03", "2000");  // a server board's screen
  add_pci("0000:02:00.0", "010802", "144d", "a808");
  EXPECT_EQ(seen_accelerators(scan_hardware(root_.path())), "");
}

TEST_F(Hardware, MayBeSeenByItsNodesAlone) {
  test::write_file(root_.path() / "dev/kfd", "");
  test::write_file(root_.path() / "dev/nvidiactl", "");
  EXPECT_EQ(seen_accelerators(scan_hardware(root_.path())), "/dev/kfd");
}

TEST_F(Hardware, NodesThatThisUserMayNotOpenGiveTheCure) {
  HardwareScan scan;
  scan.nodes.push_back({"/dev/kfd", false, 0660, 44});
  const auto lines = describe(scan);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0],
              testing::AllOf(HasSubstr("/dev/kfd: not permitted: group 44, mode 660"), HasSubstr("--group-add 44")));
}

TEST_F(Hardware, NodesOfMode0AreNotPermitted) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may open everything";
  test::write_file(root_.path() / "dev/kfd", "");
  ::chmod((root_.path() / "dev/kfd").c_str(), 0);
  EXPECT_FALSE(scan_hardware(root_.path()).nodes.at(0).permitted);
}

TEST_F(Hardware, OfAnEmptyMachineIsNothing) {
  const HardwareScan scan = scan_hardware(root_.path());
  EXPECT_TRUE(describe(scan).empty());
  EXPECT_EQ(hardware_sysroot({}), "/");
  EXPECT_EQ(hardware_sysroot({{"LEROBOT_ACCEL_SYSROOT", root_.path().string()}}), root_.path());
}

}  // namespace
}  // namespace lerobot::accel
