// lerobot-accel over packages with the real probes, on fake drivers: what a user of such a machine reads.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "tests/fakes/run_program.h"
#include "tests/integration/drivers/driver_probe.h"

namespace lerobot::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Explain : public testing::Test {
 protected:
  Explain() {
    std::filesystem::create_directories(machine_);
    for (const char* id : {"cuda", "rocm"}) {
      const auto package = make_fake(root_, id, "usable", {{"device_types", {id}}});
      std::filesystem::copy_file(staged_probe(id), package / "libprobe.so",
                                 std::filesystem::copy_options::overwrite_existing);
    }
    make_fake(root_, "cpu", "usable");
  }

  ProgramResult accel(const std::vector<std::string>& arguments, std::map<std::string, std::string> variables) const {
    variables.emplace("LEROBOT_ACCEL_PLUGINS", root_.string());
    variables.emplace("LEROBOT_ACCEL_SYSROOT", machine_.string());
    return run_program(LEROBOT_STAGE "/bin/lerobot-accel", arguments, variables);
  }

  TemporaryDirectory directory_;
  std::filesystem::path root_ = directory_.path() / "packages";
  std::filesystem::path machine_ = directory_.path() / "machine";
};

TEST_F(Explain, OnANvidiaMachineChoosesCudaAndSaysWhyNotTheOthers) {
  const ProgramResult text = accel({"explain"}, {{"LD_LIBRARY_PATH", fake_driver("cuda")},
                                                 {"FAKE_CUDA_DEVICES", "NVIDIA H200|90|0000:3B:00.0|150754820096"}});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("Choice: NVIDIA H200 through plugin cuda"), HasSubstr("libamdhip64.so")));
}

TEST_F(Explain, OnAnAmdMachineChoosesRocm) {
  const ProgramResult json =
      accel({"explain", "--json"}, {{"LD_LIBRARY_PATH", fake_driver("hip")},
                                    {"FAKE_HIP_DEVICES", "AMD Instinct MI300X|0|0000:43:00.0|206141652992"}});
  EXPECT_EQ(json.code, 0) << json.err;
  const boost::json::value value = boost::json::parse(json.out);
  EXPECT_EQ(value.at("choice").at("plugin").as_string(), "rocm");
  EXPECT_EQ(value.at("plugins").at(0).at("id").as_string(), "cuda");
  EXPECT_EQ(value.at("plugins").at(0).at("reason_code").as_string(), "no-driver");
}

TEST_F(Explain, GivesReasonAndCureWhenADriverHasNoDevice) {
  const ProgramResult text =
      accel({"explain"}, {{"LD_LIBRARY_PATH", fake_driver("cuda") + ":" + fake_driver("hip")},
                          {"FAKE_CUDA_DEVICES", "NVIDIA H200|90|0000:3B:00.0|150754820096"},
                          {"CUDA_VISIBLE_DEVICES", "-1"},
                          {"FAKE_HIP_DEVICES", "AMD Instinct MI300X|0|0000:43:00.0|206141652992"}});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("CUDA_VISIBLE_DEVICES=-1 hides every NVIDIA device"),
                              HasSubstr("Unset CUDA_VISIBLE_DEVICES"), HasSubstr("through plugin cpu")));
}

TEST_F(Explain, EndsADriverThatHangsAtTheLimit) {
  const ProgramResult text = accel(
      {"explain"},
      {{"LD_LIBRARY_PATH", fake_driver("cuda")}, {"FAKE_CUDA_HANG", "cuInit"}, {"LEROBOT_ACCEL_PROBE_SECONDS", "1"}});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("no answer within 1.0 s"), HasSubstr("through plugin cpu")));
}

TEST_F(Explain, WithoutAnyDriverSaysSoForEach) {
  if (::dlopen("libcuda.so.1", RTLD_LAZY) != nullptr || ::dlopen("libamdhip64.so", RTLD_LAZY) != nullptr) {
    GTEST_SKIP() << "this machine has a driver";
  }
  const ProgramResult text = accel({"explain"}, {});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("libcuda.so.1 is not installed"), HasSubstr("libamdhip64.so is not installed"),
                              HasSubstr("through plugin cpu")));
  EXPECT_EQ(accel({"available", "cuda"}, {}).code, 1);
}

}  // namespace
}  // namespace lerobot::test
