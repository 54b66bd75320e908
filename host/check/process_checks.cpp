// The process belongs to the host: a plugin leaves its streams, environment and signals alone.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "host/accel/abi.h"
#include "host/check/check.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every system declares it

namespace lerobot::check {
namespace {

/// Everything from the first call to the last; the part after init only where there is a device.
void use_plugin(Run& run) {
  auto args = sized<lra_probe_args>();
  args.abi_major_min = accel::kAbiMajorMin;
  args.abi_major_max = accel::kAbiMajorMax;
  auto result = sized<lra_probe_result>();
  run.ok(run.probe()(&args, &result, run.error()), LRA_PROBE_SYMBOL);
  if (!run.subject().has_torch) return;
  const lra_api& api = run.api();
  if (!api.init || !api.shutdown || !api.selftest) return;
  const auto init = sized<lra_init_args>();
  lra_context* context = nullptr;
  if (api.init(&init, &context, run.error()) != LRA_OK) return;
  if (run.subject().unavailable.empty()) {
    api.activate_device(context, 0, run.error());
    api.selftest(context, 0, run.error());
    api.selftest(context, 1000, run.error());
  }
  api.shutdown(context, run.error());
}

/// Sends a stream into memory until it is put back, and tells what came.
class Caught {
 public:
  explicit Caught(int descriptor)
      : descriptor_(descriptor),
        saved_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)),
        memory_(::memfd_create("caught", MFD_CLOEXEC)) {
    ::dup2(memory_, descriptor_);
  }
  ~Caught() {
    if (saved_ >= 0) put_back();
    ::close(memory_);
  }
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;

  std::string text() {
    put_back();
    char buffer[200];
    const ssize_t size = ::pread(memory_, buffer, sizeof buffer, 0);
    return {buffer, static_cast<std::size_t>(size > 0 ? size : 0)};
  }

 private:
  void put_back() {
    std::fflush(nullptr);
    ::dup2(saved_, descriptor_);
    ::close(saved_);
    saved_ = -1;
  }

  int descriptor_;
  int saved_;
  int memory_;
};

void silent(Run& run) {
  if (run.subject().has_torch) run.get_api();  // what torch prints when it is loaded is not the plugin's
  Caught out(STDOUT_FILENO);
  Caught err(STDERR_FILENO);
  use_plugin(run);
  const std::string printed = out.text();
  const std::string warned = err.text();
  run.expect(printed.empty(), "it writes to standard output: {}", accel::printable(printed));
  run.expect(warned.empty(), "it writes to standard error: {}", accel::printable(warned));
}

using Variables = std::map<std::string, std::string>;

Variables variables() {
  Variables found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    found[text.substr(0, text.find('='))] = text;
  }
  return found;
}

void environment(Run& run) {
  if (run.subject().has_torch) run.get_api();
  const Variables before = variables();
  const std::filesystem::path directory = std::filesystem::current_path();
  const mode_t mask = ::umask(022);
  ::umask(mask);
  use_plugin(run);
  const Variables after = variables();
  for (const auto& [name, text] : after) {
    const auto found = before.find(name);
    run.expect(found != before.end() && found->second == text, "it sets the environment variable {}", name);
  }
  for (const auto& [name, text] : before)
    run.expect(after.contains(name), "it removes the environment variable {}", name);
  run.expect(std::filesystem::current_path() == directory, "it changes the current directory");
  const mode_t mask_after = ::umask(022);
  run.expect(mask_after == mask, "it changes the file mode mask");
}

void signals(Run& run) {
  if (run.subject().has_torch) run.get_api();
  struct State {
    struct sigaction action {};
    bool blocked = false;
  };
  const auto look = [] {
    std::map<int, State> states;
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (int signal = 1; signal < NSIG; ++signal) {
      State state;
      if (::sigaction(signal, nullptr, &state.action) != 0) continue;
      state.blocked = ::sigismember(&mask, signal) == 1;
      states[signal] = state;
    }
    return states;
  };
  const auto before = look();
  use_plugin(run);
  for (const auto& [signal, state] : look()) {
    const State& old = before.at(signal);
    run.expect(state.action.sa_handler == old.action.sa_handler, "it changes the handler of signal {}", signal);
    run.expect(state.blocked == old.blocked, "it changes the mask of signal {}", signal);
  }
}

/// The answer makes sense in itself: usable with devices, or unavailable with a reason.
void probe_answer(Run& run) {
  std::vector<lra_device_info> devices(8, sized<lra_device_info>());
  auto args = sized<lra_probe_args>();
  args.abi_major_min = accel::kAbiMajorMin;
  args.abi_major_max = accel::kAbiMajorMax;
  auto result = sized<lra_probe_result>();
  result.devices = devices.data();
  result.device_capacity = static_cast<std::uint32_t>(devices.size());
  run.require_ok(run.probe()(&args, &result, run.error()), LRA_PROBE_SYMBOL);
  if (result.availability == LRA_PROBE_UNAVAILABLE) {
    run.expect(result.reason_code >= LRA_REASON_NO_DEVICE && result.reason_code <= LRA_REASON_TORCH,
               "unavailable with reason_code {}", result.reason_code);
    run.expect(result.reason[0] != 0, "unavailable without a reason");
    return;
  }
  run.require(result.availability == LRA_PROBE_USABLE, "availability is {}, neither usable nor unavailable",
              result.availability);
  run.expect(result.reason_code == LRA_REASON_NONE, "usable with reason_code {}", result.reason_code);
  run.expect(result.device_count > 0, "usable and no device");
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(result.device_count, result.device_capacity); ++i) {
    run.expect(devices[i].name[0] != 0, "device {} has no name", i);
    run.expect(devices[i].ordinal == i, "device {} says it is number {}", i, devices[i].ordinal);
  }
  auto counted = sized<lra_probe_result>();
  run.ok(run.probe()(&args, &counted, run.error()), "lra_probe with no room for devices");
  run.expect(counted.device_count == result.device_count, "without room it counts {} devices, with room {}",
             counted.device_count, result.device_count);
}

/// Elements of a later version's device_info stand further apart.
void probe_stride(Run& run) {
  constexpr std::size_t kStride = sizeof(lra_device_info) + 24;
  constexpr std::uint32_t kDevices = 4;
  std::vector<std::byte> space(kStride * kDevices);
  for (std::uint32_t i = 0; i < kDevices; ++i) {
    const auto size = static_cast<std::uint32_t>(kStride);
    std::memcpy(space.data() + i * kStride, &size, sizeof size);
  }
  auto args = sized<lra_probe_args>();
  args.abi_major_min = accel::kAbiMajorMin;
  args.abi_major_max = accel::kAbiMajorMax;
  auto result = sized<lra_probe_result>();
  result.devices = reinterpret_cast<lra_device_info*>(space.data());
  result.device_capacity = kDevices;
  run.require_ok(run.probe()(&args, &result, run.error()), LRA_PROBE_SYMBOL);
  std::vector<lra_device_info> odd(2);
  odd[0].struct_size = sizeof(lra_device_info) + 4;
  auto unaligned = sized<lra_probe_result>();
  unaligned.devices = odd.data();
  unaligned.device_capacity = 1;
  run.refused(run.probe()(&args, &unaligned, run.error()), LRA_INVALID_ARGUMENT,
              "elements of a size that is no multiple of 8");
  if (result.device_count == 0) throw Skipped("the probe lists no device");
  for (std::uint32_t i = 0; i < kDevices; ++i) {
    lra_device_info device;
    std::memcpy(&device, space.data() + i * kStride, sizeof device);
    const bool listed = i < result.device_count;
    run.expect((device.name[0] != 0) == listed, "elements {} bytes apart: number {} of {} devices is {}", kStride, i,
               result.device_count, listed ? "not where it should be" : "written to");
    run.expect(!listed || (device.struct_size >= sizeof(lra_device_info) && device.struct_size <= kStride),
               "device {}: struct_size says {} bytes filled of {}", i, device.struct_size, kStride);
  }
}

}  // namespace

std::vector<Check> process_checks() {
  return {
      {"behaviour.probe-answer", "the probe finds devices, or gives a reason", probe_answer},
      {"abi.probe-stride", "lra_probe steps by the caller's struct_size over devices", probe_stride},
      {"behaviour.silent", "nothing is written to standard output and standard error", silent},
      {"behaviour.environment", "environment variables, current directory and file mode mask stay", environment},
      {"behaviour.signals", "signal handlers and the signal mask stay", signals},
  };
}

}  // namespace lerobot::check
