#include "plugins/rocm/topology.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scratch.h"

namespace lerobot::plugins::rocm {
namespace {

using Topology = ScratchTest;

TEST(GfxName, HasAHexadecimalMinorAndStepping) {
  EXPECT_EQ(architecture_name(90402), "gfx942");
  EXPECT_EQ(architecture_name(90010), "gfx90a");
  EXPECT_EQ(architecture_name(90008), "gfx908");
  EXPECT_EQ(architecture_name(100300), "gfx1030");
  EXPECT_EQ(architecture_name(110001), "gfx1101");
  EXPECT_EQ(architecture_name(0), "");
}

void add_node(const std::filesystem::path& root, const char* name, const char* properties) {
  const auto directory = root / "sys/class/kfd/kfd/topology/nodes" / name;
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "properties") << properties;
}

TEST_F(Topology, LeavesOutProcessorsAndKeepsTheKernelsOrder) {
  add_node(scratch(), "0", "cpu_cores_count 64\nsimd_count 0\n");
  add_node(scratch(), "10", "simd_count 4\ngfx_target_version 110000\nlocation_id 768\ndomain 2\n");
  add_node(scratch(), "2", "simd_count 4\ngfx_target_version 90402\nlocation_id 17160\ndrm_render_minor 129\n");
  const auto nodes = read_topology(scratch().string());
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].architecture, "gfx942");
  EXPECT_EQ(nodes[0].pci_address, "0000:43:01.0");
  EXPECT_EQ(nodes[0].render_minor, 129);
  EXPECT_EQ(nodes[1].architecture, "gfx1100");
  EXPECT_EQ(nodes[1].pci_address, "0002:03:00.0");
  EXPECT_EQ(nodes[1].render_minor, -1);
}

TEST_F(Topology, OfAMachineWithoutTheModuleIsEmpty) {
  EXPECT_TRUE(read_topology(scratch().string()).empty());
}

}  // namespace
}  // namespace lerobot::plugins::rocm
