#include "host/accel/choice.h"

#include <gmock/gmock.h>

#include "host/accel/start.h"
#include "host/base/error.h"

namespace lerobot::accel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Candidate candidate(const std::string& id, std::vector<std::string> types, State state, std::uint32_t devices = 1) {
  Candidate result;
  result.package.id = id;
  result.package.manifest.emplace();
  result.package.manifest->id = id;
  result.package.manifest->version = "1.0";
  result.package.manifest->device_types = std::move(types);
  result.package.manifest->automatic = true;
  result.state = state;
  if (state == State::kUsable) {
    result.probe.usable = true;
    result.probe.device_count = devices;
    for (std::uint32_t i = 0; i < devices; ++i) result.probe.devices.emplace_back().name = format("{} {}", id, i);
  } else {
    result.reason = "driver too old";
    result.cure = "Install a newer one";
  }
  return result;
}

/// cuda broken, rocm with two devices, foo of a third party with four, cpu.
Survey machine() {
  Survey survey;
  survey.candidates = {candidate("cuda", {"cuda"}, State::kUnavailable),
                       candidate("rocm", {"cuda", "rocm"}, State::kUsable, 2),
                       candidate("foo", {"foo"}, State::kUsable, 4), candidate("cpu", {"cpu"}, State::kUsable)};
  return survey;
}

DeviceRequest typed(const std::string& device) {
  DeviceRequest request;
  request.device = device;
  request.typed = true;
  return request;
}

DeviceRequest stored(const std::string& device) {
  DeviceRequest request = typed(device);
  request.typed = false;
  return request;
}

std::string refusal(const Survey& survey, const DeviceRequest& request, ErrorKind kind = ErrorKind::kDevice) {
  try {
    choose(survey, request);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
}

TEST(DeviceNames, AreATypeOrATypeWithAnIndex) {
  EXPECT_EQ(parse_device("fake").type, "fake");
  EXPECT_FALSE(parse_device("fake").index);
  EXPECT_EQ(parse_device("fake:12").index, 12u);
  for (const char* bad :
       {"fake:-1", "fake:", "FAKE", "", ":0", "fake:0:1", "fake: 1", "fake:1x", "fake:99999999999", "fa ke"}) {
    EXPECT_THROW(parse_device(bad), Error) << bad;
  }
}

TEST(Choice, TakesTheFirstUsableOneAutomatically) {
  const Survey survey = machine();
  const Choice choice = choose(survey, {});
  EXPECT_EQ(choice.candidate->package.id, "rocm");
  EXPECT_TRUE(choice.replaceable);
  EXPECT_THAT(choice.warnings, IsEmpty());
}

TEST(Choice, TreatsAnEmptyDeviceAsNone) {
  const Survey survey = machine();
  EXPECT_EQ(choose(survey, typed("")).candidate->package.id, "rocm");
}

TEST(Choice, NeverTakesAPluginThatDidNotOptInUnlessAsked) {
  Survey survey = machine();
  survey.candidates[1].package.manifest->automatic = false;
  survey.candidates[2].package.manifest->automatic = false;
  EXPECT_EQ(choose(survey, {}).candidate->package.id, "cpu");
  EXPECT_EQ(choose(survey, typed("foo")).candidate->package.id, "foo");
}

TEST(Choice, LetsRocmAnswerCuda) {
  const Survey survey = machine();
  const Choice choice = choose(survey, typed("cuda:1"));
  EXPECT_EQ(choice.candidate->package.id, "rocm");
  EXPECT_EQ(choice.device, 1u);
  EXPECT_FALSE(choice.replaceable);
}

TEST(Choice, NeverReplacesATypedDevice) {
  Survey survey = machine();
  survey.candidates[1] = candidate("rocm", {"cuda", "rocm"}, State::kUnfit);
  EXPECT_THAT(refusal(survey, typed("cuda")), AllOf(HasSubstr("--policy.device=cuda"),
                                                    HasSubstr("cuda: unavailable: driver too old. Install a newer one"),
                                                    HasSubstr("rocm: unfit"), Not(HasSubstr("foo"))));
}

TEST(Choice, NamesTheNearestTypeOfAnUnknownOne) {
  EXPECT_THAT(refusal(machine(), typed("cudo")),
              AllOf(HasSubstr("did you mean cuda?"), HasSubstr("cpu, cuda, foo, rocm")));
  EXPECT_THAT(refusal(machine(), typed("CUDA"), ErrorKind::kUsage), HasSubstr("not a device"));
}

TEST(Choice, ChecksTheIndexAgainstTheVisibleDevices) {
  EXPECT_THAT(refusal(machine(), typed("rocm:9")), AllOf(HasSubstr("2 visible devices"), HasSubstr("rocm 0, rocm 1")));
  EXPECT_EQ(choose(machine(), typed("cpu:0")).device, 0u);
  EXPECT_NE(refusal(machine(), typed("cpu:1")), "");
}

TEST(Choice, TreatsAStoredDeviceAsAPreference) {
  const Survey survey = machine();
  EXPECT_EQ(choose(survey, stored("foo:3")).device, 3u);
  for (const char* missing : {"xpu", "foo:9", "CUDA", "mps:0"}) {
    const Choice choice = choose(survey, stored(missing));
    EXPECT_EQ(choice.candidate->package.id, "rocm");
    ASSERT_EQ(choice.warnings.size(), 1u);
    EXPECT_THAT(choice.warnings[0], AllOf(HasSubstr(missing), HasSubstr("rocm 0")));
  }
}

TEST(Choice, HonoursOrRefusesAPluginAskedFor) {
  const Survey survey = machine();
  DeviceRequest request;
  request.plugin = "foo";
  EXPECT_EQ(choose(survey, request).candidate->package.id, "foo");
  request.plugin = "cuda";
  EXPECT_THAT(refusal(survey, request), AllOf(HasSubstr("--plugin=cuda"), HasSubstr("driver too old")));
  request.plugin = "bar";
  EXPECT_THAT(refusal(survey, request), HasSubstr("not installed"));
  request.plugin = "foo";
  request.device = "cuda";
  EXPECT_THAT(refusal(survey, request), HasSubstr("serves foo"));
}

TEST(Choice, GivesEachProcessOfAMachineItsOwnDevice) {
  const Survey survey = machine();
  DeviceRequest request = typed("foo");
  request.local_rank = 3;
  request.local_world = 4;
  EXPECT_EQ(choose(survey, request).device, 3u);
  request.local_world = 5;
  EXPECT_THAT(refusal(survey, request), AllOf(HasSubstr("5 processes"), HasSubstr("4 visible devices")));
  request.device = "cpu";
  EXPECT_EQ(choose(survey, request).device, 0u);
}

TEST(Choice, WarnsWhenTheCpuIsTakenThoughAnAcceleratorIsThere) {
  Survey survey;
  survey.candidates = {candidate("cuda", {"cuda"}, State::kUnavailable), candidate("cpu", {"cpu"}, State::kUsable)};
  EXPECT_THAT(choose(survey, {}).warnings, IsEmpty()) << "no accelerator, no noise";
  survey.hardware.pci.push_back({"0000:3b:00.0", "NVIDIA", "10de:2330", true});
  EXPECT_THAT(
      choose(survey, {}).warnings,
      ElementsAre(AllOf(HasSubstr("NVIDIA 10de:2330"), HasSubstr("runs on the CPU"), HasSubstr("driver too old"))));
  EXPECT_THAT(choose(survey, typed("cpu")).warnings, IsEmpty()) << "the user's own wish";
}

TEST(Choice, NamesThePluginThatIsNotInstalledForAnAcceleratorThatIsThere) {
  Survey survey;
  survey.candidates = {candidate("cpu", {"cpu"}, State::kUsable)};
  survey.hardware.pci.push_back({"0000:43:00.0", "AMD", "1002:740f", true});
  EXPECT_THAT(choose(survey, {}).warnings, ElementsAre(HasSubstr("the plugin rocm for AMD is not installed")));
}

TEST(Choice, NamesTheVariablesThatMayHideADevice) {
  Survey survey;
  survey.candidates = {candidate("cuda", {"cuda"}, State::kUnavailable)};
  survey.candidates[0].package.manifest->visible_devices = {"CUDA_VISIBLE_DEVICES"};
  survey.variables = {{"CUDA_VISIBLE_DEVICES", "7"}, {"OTHER_VISIBLE_DEVICES", "1"}};
  EXPECT_THAT(refusal(survey, typed("cuda")),
              AllOf(HasSubstr("(set: CUDA_VISIBLE_DEVICES=7)"), Not(HasSubstr("OTHER"))));
  survey.candidates[0].reason = "hidden by CUDA_VISIBLE_DEVICES=7";
  EXPECT_THAT(refusal(survey, typed("cuda")), Not(HasSubstr("(set:"))) << "once is enough";
}

TEST(Choice, WithoutAnyPluginSaysSo) {
  EXPECT_THAT(refusal({}, {}), HasSubstr("no plugin is installed"));
}

TEST(LocalRank, IsReadFromTheLaunchersVariables) {
  DeviceRequest request;
  read_local_rank({{"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "4"}}, request);
  EXPECT_EQ(request.local_rank, 2u);
  EXPECT_EQ(request.local_world, 4u);
  EXPECT_THROW(read_local_rank({{"LOCAL_RANK", "two"}}, request), Error);
}

}  // namespace
}  // namespace lerobot::accel
