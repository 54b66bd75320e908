#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "host/accel/sha256.h"
#include "host/base/file.h"
#include "tests/fakes/fake_package.h"
#include "tests/fakes/run_program.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;
using test::make_fake;
using test::ProgramResult;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AccelProgram : public testing::Test {
 protected:
  /// lerobot-accel that sees the packages below root_ and nothing else, on a machine without hardware.
  ProgramResult accel(const std::vector<std::string>& arguments, std::map<std::string, std::string> variables = {}) {
    variables.emplace("LEROBOT_ACCEL_PLUGINS", root_.string());
    variables.emplace("LEROBOT_ACCEL_SYSROOT", (directory_.path() / "machine").string());
    return test::run_program(LEROBOT_STAGE "/bin/lerobot-accel", arguments, variables);
  }

  std::string list(std::map<std::string, std::string> variables = {}) {
    const ProgramResult result = accel({"list"}, std::move(variables));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  test::TemporaryDirectory directory_;
  fs::path root_ = directory_.path() / "packages";
};

TEST_F(AccelProgram, ListsEveryPluginWithItsDevicesOrItsReason) {
  make_fake(root_, "good", "usable");
  make_fake(root_, "old", "unavailable");
  make_fake(root_, "bad", "crash");
  EXPECT_THAT(list(), AllOf(HasSubstr("Fake 0, 1.0 GiB, fake_1, 0000:01:00.0"),
                            HasSubstr("driver 1.0 is too old, 2.0 is needed. Install driver 2.0"),
                            HasSubstr("its probe crashed: signal")));
}

TEST_F(AccelProgram, SaysHowEachStaticCheckFailed) {
  make_fake(root_, "machine", "usable", {{"architectures", {"sparc"}}});
  make_fake(root_, "abi", "usable", {{"abi", {{"major_min", 7}, {"major_max", 8}, {"minor", 0}}}});
  make_fake(root_, "torchless", "usable", {{"torch", {{"from", "torch-none"}}}, {"torch_version", "2.11.0"}});
  make_fake(root_, "escape", "usable", {{"library", "../good/libaccel.so"}});
  make_fake(root_, "dependency", "missing_dependency");
  fs::remove(make_fake(root_, "absent", "usable") / "libaccel.so");
  test::write_file(make_fake(root_, "text", "usable") / "libaccel.so", "INPUT(libother.so)\n" + std::string(100, ' '));
  test::write_file(make_fake(root_, "garbage", "usable") / "manifest.json", "}{");
  fs::permissions(make_fake(root_, "open", "usable") / "libaccel.so", fs::perms::others_write, fs::perm_options::add);
  const std::string out = list();
  for (const char* text : {
           "runs on sparc, this machine is",
           "speaks plugin ABI 7 to 8, this program 1 to 1. Install a newer program",
           "needs the package torch-none, which is not installed",
           "library: ../good/libaccel.so leaves the package",
           "missing: libfake_dependency.so (needed by libprobe.so)",
           "libaccel.so: No such file",
           "libaccel.so: is not a shared library (no ELF header)",
           "manifest.json",
           "writable by everybody",
       }) {
    EXPECT_THAT(out, HasSubstr(text));
  }
  EXPECT_THAT(out, Not(HasSubstr("Fake 0"))) << "none of them is usable";
}

TEST_F(AccelProgram, ChecksHashes) {
  const fs::path package = make_fake(root_, "fake", "usable");
  bj::object manifest = test::fake_manifest("fake");
  manifest["sha256"] = {{"libaccel.so", accel::sha256_file(package / "libaccel.so")}};
  test::write_manifest(package, manifest);
  EXPECT_THAT(list(), HasSubstr("Fake 0"));
  std::ofstream(package / "libaccel.so", std::ios::app) << "x";
  EXPECT_THAT(list(), HasSubstr("libaccel.so: its SHA-256 is"));
}

TEST_F(AccelProgram, ProbesAPackageWithoutAThinLibraryThroughTheFullOne) {
  fs::remove(make_fake(root_, "fake", "usable", {{"probe", nullptr}}) / "libprobe.so");
  EXPECT_THAT(list(), HasSubstr("Fake 0"));
}

/// glibc writes what each process loads to a file of its own.
TEST_F(AccelProgram, ListMapsNoTorchAndStartsOneChildForEachProbe) {
  for (const char* id : {"a", "b", "c"}) make_fake(root_, id, "usable");
  make_fake(root_, "unfit", "usable", {{"architectures", {"sparc"}}});
  const fs::path log = directory_.path() / "log";
  const fs::path loads = directory_.path() / "loads/files";
  fs::create_directories(loads.parent_path());
  list({{"FAKE_LOG", log.string()}, {"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", loads.string()}});

  std::istringstream lines(read_text(log, ErrorKind::kIo));
  std::set<int> children;
  std::set<int> parents;
  std::string what;
  for (int pid, parent; lines >> what >> pid >> parent;) {
    EXPECT_EQ(what, "probe") << "nothing but the probe runs";
    children.insert(pid);
    parents.insert(parent);
  }
  EXPECT_EQ(children.size(), 3u);
  ASSERT_EQ(parents.size(), 1u);

  const std::string own = loads.string() + "." + std::to_string(*parents.begin());
  ASSERT_TRUE(fs::exists(own));
  EXPECT_THAT(read_text(own, ErrorKind::kIo), HasSubstr("liblerobot_host.so"));
  std::size_t processes = 0;
  for (const auto& entry : fs::directory_iterator(loads.parent_path())) {
    ++processes;
    const std::string text = read_text(entry.path(), ErrorKind::kIo);
    for (const char* name : {"libtorch", "libc10", "libgomp"}) EXPECT_THAT(text, Not(HasSubstr(name))) << entry.path();
    if (entry.path() != own) continue;
    EXPECT_THAT(text, Not(HasSubstr("libprobe.so"))) << "plugin code runs in children only";
  }
  EXPECT_EQ(processes, 1u + 3u) << "the program and the probes";
}

TEST_F(AccelProgram, EndsAHangingProbeAndGoesOn) {
  make_fake(root_, "stuck", "hang");
  make_fake(root_, "good", "usable");
  EXPECT_THAT(list({{"LEROBOT_ACCEL_PROBE_SECONDS", "1"}}),
              AllOf(HasSubstr("no answer within 1.0 s"), HasSubstr("Fake 0")));
}

TEST_F(AccelProgram, LeavesOutWhatTheVariablesSay) {
  make_fake(root_, "a", "usable");
  make_fake(root_, "b", "usable");
  EXPECT_THAT(list({{"LEROBOT_ACCEL_DISABLE", "a"}}), HasSubstr("disabled by LEROBOT_ACCEL_DISABLE=a"));
  EXPECT_THAT(list({{"LEROBOT_ACCEL_SELECT", "b*"}}), HasSubstr("not selected by LEROBOT_ACCEL_SELECT=b*"));
}

TEST_F(AccelProgram, ExplainsTheChoiceForPeopleAndForPrograms) {
  make_fake(root_, "broken", "unavailable", {{"priority", 5}});
  make_fake(root_, "blind", "unfit_device", {{"priority", 3}});  // sees the cards, cannot use them
  make_fake(root_, "good", "usable");
  make_fake(root_, "cpu", "usable");
  const ProgramResult text = accel({"explain"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("(LEROBOT_ACCEL_PLUGINS)"), HasSubstr("Choice: Fake 0 through plugin good")));

  const ProgramResult json = accel({"explain", "--json"});
  EXPECT_EQ(json.code, 0);
  const bj::value value = bj::parse(json.out);
  EXPECT_EQ(value.at("schema").as_int64(), 1);
  const bj::array& plugins = value.at("plugins").as_array();
  ASSERT_EQ(plugins.size(), 4u);
  EXPECT_EQ(plugins[0].at("stage").as_string(), "probe");
  EXPECT_EQ(plugins[2].at("stage").as_string(), "ready");
  EXPECT_EQ(plugins[0].at("id").as_string(), "broken");
  EXPECT_EQ(plugins[0].at("state").as_string(), "unavailable");
  EXPECT_EQ(plugins[0].at("reason_code").as_string(), "driver-too-old");
  EXPECT_EQ(plugins[1].at("reason_code").as_string(), "architecture");
  EXPECT_EQ(plugins[2].at("id").as_string(), "good");
  EXPECT_EQ(plugins[2].at("devices").as_array().size(), 2u);
  EXPECT_EQ(plugins[2].at("devices").at(0).at("counted_by").as_string(), "");
  EXPECT_EQ(plugins[3].at("id").as_string(), "cpu");
  // The same cards as those of "good", so they count once.
  EXPECT_EQ(plugins[3].at("devices").at(0).at("counted_by").as_string(), "good");
  EXPECT_EQ(value.at("choice").at("plugin").as_string(), "good");
  EXPECT_EQ(value.at("search").at(0).at("origin").as_string(), "LEROBOT_ACCEL_PLUGINS");
}

/// Who has no such hardware hears that, rather than to get a torch for it.
TEST_F(AccelProgram, ProbesAPluginWhoseTorchIsNotThere) {
  const bj::object external = {{"torch", {{"external", true}}}, {"torch_version", "2.11.0"}};
  make_fake(root_, "away", "unavailable", external);
  make_fake(root_, "there", "usable", external);
  EXPECT_THAT(list(), AllOf(HasSubstr("driver 1.0 is too old, 2.0 is needed"),
                            HasSubstr("needs a torch 2.11 for Fake of your own"), Not(HasSubstr("Fake 0"))));
  const bj::value value = bj::parse(accel({"explain", "--json"}).out);
  EXPECT_EQ(value.at("plugins").at(0).at("stage").as_string(), "probe");
  EXPECT_EQ(value.at("plugins").at(1).at("stage").as_string(), "torch");
  EXPECT_EQ(value.at("plugins").at(1).at("state").as_string(), "unfit");
}

TEST_F(AccelProgram, SaysWhichTorchOfTheUsersItTakesAndWhy) {
  const fs::path lib = directory_.path() / "env/lib/python3.11/site-packages/torch/lib";
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libtorch_foo.so"}) {
    fs::create_directories(lib);
    fs::copy_file(test::fake_library("usable"), lib / name);
  }
  test::write_file(lib.parent_path() / "version.py", "__version__ = '2.11.0+foo1'\n");
  make_fake(root_, "foo", "usable",
            {{"torch", {{"external", true}}}, {"torch_version", "2.11.0"}, {"torch_libraries", {"libtorch_foo.so"}}});
  const std::string out = list({{"VIRTUAL_ENV", (directory_.path() / "env").string()}});
  // Only the trainer is missing for it (or it is there, in a build that has one).
  EXPECT_THAT(out, Not(HasSubstr("of your own")));
  const std::string json = accel({"explain", "--json"}, {{"VIRTUAL_ENV", (directory_.path() / "env").string()}}).out;
  const bj::value torch = bj::parse(json).at("plugins").at(0).at("torch");
  EXPECT_EQ(torch.at("version").as_string(), "2.11.0+foo1");
  EXPECT_THAT(std::string(torch.at("origin").as_string()), HasSubstr("the active Python environment, VIRTUAL_ENV="));
}

TEST_F(AccelProgram, WarnsOfAnAcceleratorThatNoPluginUses) {
  make_fake(root_, "cpu", "usable");
  const fs::path card = directory_.path() / "machine/sys/bus/pci/devices/0000:3b:00.0";
  test::write_file(card / "class", "0x030200\n");
  test::write_file(card / "vendor", "0x10de\n");
  test::write_file(card / "device", "0x2330\n");
  EXPECT_THAT(accel({"explain"}).out,
              HasSubstr("Warning: This machine has an accelerator (NVIDIA 10de:2330 at "
                        "0000:3b:00.0), but training runs on the CPU: the plugin cuda for NVIDIA is "
                        "not installed"));
}

TEST_F(AccelProgram, AnswersAvailabilityByItsExitCode) {
  make_fake(root_, "fake", "usable", {{"device_types", {"cuda"}}});
  make_fake(root_, "old", "unavailable", {{"device_types", {"xpu"}}});
  EXPECT_EQ(accel({"available", "cuda"}).code, 0);
  EXPECT_EQ(accel({"available", "fake"}).code, 0);
  EXPECT_EQ(accel({"available", "cuda:1"}).code, 0);
  EXPECT_EQ(accel({"available", "cuda:2"}).code, 1);
  EXPECT_EQ(accel({"available", "xpu"}).code, 1);
  EXPECT_EQ(accel({"available", "mps"}).code, 1);
  EXPECT_EQ(accel({"available", "CUDA"}).code, 2);
  EXPECT_EQ(accel({"available"}).code, 2);
}

TEST_F(AccelProgram, RefusesUnknownWordsWithTheNearestOne) {
  const ProgramResult command = accel({"lst"});
  EXPECT_EQ(command.code, 2);
  EXPECT_THAT(command.err, HasSubstr("did you mean list?"));
  const ProgramResult option = accel({"list", "--verbos"});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("did you mean --verbose?"));
  EXPECT_EQ(accel({}).code, 2);
  EXPECT_EQ(accel({"--plugins", "/nowhere", "list"}).code, 2);
  EXPECT_EQ(accel({"--help"}).code, 0);
}

TEST_F(AccelProgram, WithoutAnyPluginSaysSoAndSucceeds) {
  fs::create_directories(root_);
  EXPECT_THAT(list(), HasSubstr("No plugin is installed"));
}

}  // namespace
}  // namespace lerobot
