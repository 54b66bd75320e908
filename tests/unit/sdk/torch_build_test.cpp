#include "sdk/torch_build.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scratch.h"

namespace lerobot::sdk {
namespace {

class TorchBuildTest : public ScratchTest {
 protected:
  TorchBuildTest() { std::filesystem::create_directories(scratch() / "lib"); }
  void add(const char* file, const char* content) const { std::ofstream(scratch() / file) << content; }
  TorchBuild find(const char* version) const { return find_torch_build((scratch() / "lib").string(), version); }
};

TEST(BuildTag, HoldsTheVersionOfWhatTorchWasBuiltFor) {
  EXPECT_EQ(version_of_tag("cu130", "cu"), "13.0");
  EXPECT_EQ(version_of_tag("cu118", "cu"), "11.8");
  EXPECT_EQ(version_of_tag("rocm7.1", "rocm"), "7.1");
  EXPECT_EQ(version_of_tag("cpu", "cu"), "");
  EXPECT_EQ(version_of_tag("cuda", "cu"), "");
  EXPECT_EQ(version_of_tag("", "cu"), "");
  EXPECT_EQ(major_version("13.0"), 13);
  EXPECT_EQ(major_version("7.0.51831"), 7);
  EXPECT_EQ(major_version(""), -1);
  EXPECT_EQ(major_version("git"), -1);
}

TEST_F(TorchBuildTest, IsInTheVersionItself) {
  add("version.py", "__version__ = '2.11.0+rocm7.1'\n");
  const TorchBuild build = find("2.11.0+cu126");
  EXPECT_EQ(build.version, "2.11.0+cu126");
  EXPECT_EQ(build.cuda, "12.6");
  EXPECT_EQ(build.hip, "");
}

TEST_F(TorchBuildTest, IsInTheWheelsVersionFile) {
  add("version.py",
      "from typing import Optional\n\n__all__ = ['__version__', 'cuda', 'hip']\n__version__ = '2.9.0a0+git1c57644'\n"
      "debug = False\ncuda: Optional[str] = None\ngit_version = 'x'\nhip: Optional[str] = '7.0.51831-a3e329ad8'\n");
  const TorchBuild build = find("2.9.0");
  EXPECT_EQ(build.version, "2.9.0a0+git1c57644");
  EXPECT_EQ(build.cuda, "");
  EXPECT_EQ(build.hip, "7.0.51831-a3e329ad8");
  EXPECT_EQ(major_version(build.hip), 7);
}

TEST_F(TorchBuildTest, IsInTheArchivesVersionFile) {
  add("build-version", "2.11.0+cu130\n");
  EXPECT_EQ(find("2.11.0").cuda, "13.0");
  EXPECT_EQ(find("").version, "2.11.0+cu130");
}

TEST_F(TorchBuildTest, IsUnknownWithoutFiles) {
  const TorchBuild build = find("2.11.0");
  EXPECT_EQ(build.cuda + build.hip, "");
  EXPECT_EQ(build.text(), "torch 2.11.0 in " + (scratch() / "lib").string());
  EXPECT_FALSE(build.holds("libtorch_cuda.so"));
  add("lib/libtorch_cuda.so", "");
  EXPECT_TRUE(build.holds("libtorch_cuda.so"));
  EXPECT_FALSE(find_torch_build("", "").holds("libtorch_cuda.so"));
}

}  // namespace
}  // namespace lerobot::sdk
