#include "host/accel/probe.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "host/accel/probe_message.h"
#include "host/base/error.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

constexpr auto kLimit = 20s;

ProbeRequest request(const std::filesystem::path& library) {
  ProbeRequest request;
  request.library = library;
  request.package_directory = library.parent_path();
  return request;
}

ProbeResult probe(const std::string& way, std::chrono::milliseconds limit = kLimit) {
  return run_probes({request(test::fake_library(way))}, limit, probe_helper()).at(0);
}

TEST(Probe, GivesDevicesAndDriver) {
  const ProbeResult result = probe("usable");
  EXPECT_TRUE(result.usable) << result.reason << result.output;
  EXPECT_EQ(result.driver_version, "2.1");
  EXPECT_EQ(result.device_count, 2u);
  ASSERT_EQ(result.devices.size(), 2u);
  EXPECT_EQ(result.devices[1].name, "Fake 1");
  EXPECT_EQ(result.devices[1].pci_address, "0000:02:00.0");
  EXPECT_EQ(result.devices[1].memory_total, 1u << 30);
}

TEST(Probe, GivesTheReasonAndTheCure) {
  const ProbeResult result = probe("unavailable");
  EXPECT_FALSE(result.usable);
  EXPECT_EQ(result.reason_code, "driver-too-old");
  EXPECT_EQ(result.reason, "driver 1.0 is too old, 2.0 is needed");
  EXPECT_EQ(result.cure, "Install driver 2.0");
}

TEST(Probe, ThatCrashesIsAReason) {
  const ProbeResult result = probe("crash");
  EXPECT_FALSE(result.usable);
  EXPECT_THAT(result.reason, HasSubstr("its probe crashed: signal"));
}

TEST(Probe, ThatHangsIsEndedAtTheLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ProbeResult result = probe("hang", 300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_THAT(result.reason, HasSubstr("no answer within 0.3 s"));
  EXPECT_EQ(::kill(result.pid, 0), -1) << "the child is gone";
}

TEST(Probe, ThatEndsItsProcessIsAReason) {
  EXPECT_THAT(probe("exit").reason, HasSubstr("exit code 3 before it answered"));
}

TEST(Probe, ThatWritesGarbageIsAReason) {
  const ProbeResult result = probe("garbage");
  EXPECT_FALSE(result.usable);
  EXPECT_THAT(result.reason, HasSubstr("its probe wrote more than its answer"));
}

TEST(Probe, ThatPrintsIsNotDisturbedByIt) {
  const ProbeResult result = probe("chatty");
  EXPECT_TRUE(result.usable) << result.reason;
  EXPECT_THAT(result.output, HasSubstr("usable"));
}

TEST(Probe, OfALibraryWithoutTheEntryIsAReason) {
  EXPECT_THAT(probe("no_entry").reason, HasSubstr("exports no lra_probe"));
}

TEST(Probe, OfAnotherMajorIsAReason) {
  EXPECT_THAT(probe("wrong_major").reason, HasSubstr("no common major"));
}

TEST(Probe, OfATextFileGivesTheLoadersWords) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "libprobe.so", "no library");
  const ProbeResult result = run_probes({request(directory.path() / "libprobe.so")}, kLimit, probe_helper()).at(0);
  EXPECT_THAT(result.reason, AnyOf(HasSubstr("file too short"), HasSubstr("invalid ELF header")));
}

TEST(Probe, OfALibraryThatMissesAnotherNamesIt) {
  const test::TemporaryDirectory directory;
  std::filesystem::copy_file(test::fake_library("missing_dependency"), directory.path() / "libprobe.so");
  const ProbeResult result = run_probes({request(directory.path() / "libprobe.so")}, kLimit, probe_helper()).at(0);
  EXPECT_THAT(result.reason, HasSubstr("libfake_dependency.so: cannot open shared object file"));
}

TEST(Probes, RunAtTheSameTimeEachInAProcessOfItsOwn) {
  std::vector<ProbeRequest> requests(3, request(test::fake_library("hang")));
  requests.push_back(request(test::fake_library("usable")));
  const auto start = std::chrono::steady_clock::now();
  const auto results = run_probes(requests, 1s, probe_helper());
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2500ms) << "three times the limit would be one after the other";
  EXPECT_TRUE(results[3].usable);
  std::vector<int> pids = {::getpid()};
  for (const ProbeResult& result : results) pids.push_back(result.pid);
  std::ranges::sort(pids);
  EXPECT_EQ(std::ranges::adjacent_find(pids), pids.end());
}

TEST(Probes, WithoutTheHelperAreReasons) {
  const auto results = run_probes({request(test::fake_library("usable"))}, kLimit, "/nowhere/lerobot-accel-probe");
  EXPECT_THAT(results.at(0).reason, HasSubstr("/nowhere/lerobot-accel-probe does not start"));
}

TEST(Probes, WorkWhereChildrenAreNotWaitedFor) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const ProbeResult result = probe("usable");
  ::signal(SIGCHLD, before);
  EXPECT_TRUE(result.usable) << result.reason;
}

TEST(ProbeMessage, PassesThroughItsText) {
  const ProbeRequest sent{.library = "/a b/\"lib\".so",
                          .package_directory = "/a b",
                          .device_archs = "sm_80;sm_90",
                          .torch_directory = "/torch/lib",
                          .torch_version = "2.11.0+x",
                          .preload = {"/x.so", "/y.so"}};
  const ProbeRequest received = read_request(write_request(sent));
  EXPECT_EQ(received.library, sent.library);
  EXPECT_EQ(received.preload, sent.preload);
  EXPECT_EQ(received.device_archs, sent.device_archs);
  EXPECT_EQ(received.torch_directory, sent.torch_directory);
  EXPECT_EQ(received.torch_version, sent.torch_version);
}

TEST(ProbeMessage, RefusesAnythingElse) {
  for (const char* line :
       {"", "{}", "[]", "null", "{\"usable\": 1}", "{\"usable\": true, \"reason_code\": 3}", "}garbage"}) {
    EXPECT_THROW(read_result(line), Error) << line;
    EXPECT_THROW(read_request(line), Error) << line;
  }
}

}  // namespace
}  // namespace lerobot::accel
