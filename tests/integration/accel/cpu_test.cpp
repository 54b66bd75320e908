#include <gmock/gmock.h>

#include <filesystem>

#include "tests/fakes/fake_package.h"
#include "tests/fakes/run_program.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;
using test::run_program;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kPackages = LEROBOT_STAGE "/lib/lerobot/accel.d";

TEST(CpuPlugin, IsFoundBesideTheProgramAndUsable) {
  const ProgramResult result = run_program(LEROBOT_STAGE "/bin/lerobot-accel", {"list"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, ContainsRegex("cpu +[0-9.]+ +cpu +usable"));
  EXPECT_EQ(run_program(LEROBOT_STAGE "/bin/lerobot-accel", {"available", "cpu"}).code, 0);
}

TEST(CpuPlugin, StartsWithItsOwnTorch) {
  const ProgramResult result = run_program(LEROBOT_START_DEVICE, {kPackages, "typed", "cpu"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(StartsWith("cpu cpu 2."), HasSubstr("bf16 ")));
}

TEST(CpuPlugin, RefusesASecondTorchByName) {
  const ProgramResult result =
      run_program(LEROBOT_START_DEVICE, {kPackages, "typed", "cpu"}, {{"LD_PRELOAD", "libgomp.so.1"}});
  if (result.err.find("cannot be preloaded") != std::string::npos) GTEST_SKIP() << "this system has no OpenMP runtime";
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("libgomp.so.1"), HasSubstr("LD_PRELOAD=libgomp.so.1")));
}

/// LD_LIBRARY_PATH outranks the RUNPATH of torch's libraries, so the program opens them by absolute path first.
TEST(CpuPlugin, IsNotLedAstrayByTheLibraryPath) {
  const test::TemporaryDirectory other;
  for (const char* name : {"libc10.so", "libgomp.so.1"}) test::write_file(other.path() / name, "no library");
  const ProgramResult result =
      run_program(LEROBOT_START_DEVICE, {kPackages, "typed", "cpu"}, {{"LD_LIBRARY_PATH", other.path().string()}});
  EXPECT_EQ(result.code, 0) << result.err;
}

}  // namespace
}  // namespace lerobot
