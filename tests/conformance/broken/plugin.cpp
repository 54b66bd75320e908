// The full library of the broken plugin: a plugin on the CPU's torch that is in order, then the faults of the
// handshake.
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "fault.h"
#include "sdk/failure.h"
#include "sdk/handshake.h"
#include "sdk/structs.h"
#include "sdk/torch/plugin.h"

namespace broken {

lra_api good;

namespace {

using lerobot::sdk::guarded;

/// Two devices, both the CPU.
class CpuTwice : public lerobot::sdk::Backend {
 public:
  std::vector<lra_device_info> devices() override {
    lra_device_info device{};
    device.struct_size = sizeof device;
    device.torch_type = static_cast<std::int32_t>(c10::kCPU);
    device.torch_index = -1;
    device.capabilities = LRA_CAP_FLOAT64 | LRA_CAP_BF16_EMULATED | LRA_CAP_TF32;
    device.memory_total = std::uint64_t{1} << 30;
    lerobot::sdk::copy_text(device.torch_device, "cpu");
    lerobot::sdk::copy_text(device.name, "Broken device");
    std::vector<lra_device_info> both(2, device);
    both[1].ordinal = 1;
    return both;
  }
  lerobot::sdk::AutocastSupport autocast_support(std::uint32_t, std::uint32_t precision) override {
    if (precision == LRA_PRECISION_BF16) return {LRA_SUPPORT_EMULATED, "the broken device has no bf16 units"};
    return {LRA_SUPPORT_NONE, "the broken device has no fp16"};
  }
  lra_tf32 tf32() override { return {}; }
  void set_tf32(const lra_tf32&) override {}
};

void check_context(lra_context* context) {
  std::uint32_t count = 0;
  lra_error error{};
  error.struct_size = sizeof error;
  const lra_status status = good.device_count(context, &count, &error);
  if (status != LRA_OK) throw lerobot::sdk::Failure(status, error.message);
}

/// TF32 as a pair of switches that change nothing.
lra_tf32 switches{sizeof(lra_tf32), LRA_TF32_OFF, LRA_TF32_OFF, 0};

lra_status tf32_get(lra_context* context, lra_tf32* state, lra_error* error) {
  return guarded(error, [&] {
    check_context(context);
    lerobot::sdk::check_struct(state, "state");
    lerobot::sdk::write_output(state, switches);
  });
}

lra_status tf32_set(lra_context* context, const lra_tf32* settings, lra_error* error) {
  return guarded(error, [&] {
    check_context(context);
    const lra_tf32 own = lerobot::sdk::read_args(settings, "settings");
    lerobot::sdk::check_reserved(own.reserved, "settings.reserved");
    if (own.matmul > LRA_TF32_ON || own.convolution > LRA_TF32_ON) {
      throw lerobot::sdk::Failure(LRA_INVALID_ARGUMENT, "a switch is 0, 1 or 2");
    }
    if (own.matmul != LRA_TF32_LEAVE) switches.matmul = own.matmul;
    if (own.convolution != LRA_TF32_LEAVE) switches.convolution = own.convolution;
  });
}

/// What malloc has given out.
lra_status memory_stats(lra_context* context, std::uint32_t device, lra_memory_stats* stats, lra_error* error) {
  return guarded(error, [&] {
    check_context(context);
    lerobot::sdk::check_struct(stats, "stats");
    if (device > 1) throw lerobot::sdk::Failure(LRA_INVALID_ARGUMENT, "there are two devices");
    static std::uint64_t peak = 0;
    const struct mallinfo2 info = mallinfo2();
    lra_memory_stats answer{};
    answer.allocated = answer.cached = info.uordblks + info.hblkhd;
    peak = std::max<std::uint64_t>(peak, answer.allocated);
    answer.allocated_peak = answer.cached_peak = peak;
    lerobot::sdk::write_output(stats, answer);
  });
}

lra_status get_extension(lra_context* context, const char* id, std::uint64_t size, const void** table,
                         lra_error* error) {
  return guarded(error, [&] {
    check_context(context);
    if ((id == nullptr && size != 0) || table == nullptr) {
      throw lerobot::sdk::Failure(LRA_INVALID_ARGUMENT, "id or table is null");
    }
    if (std::string_view(id, size) != "broken.table/1") {
      throw lerobot::sdk::Failure(LRA_UNSUPPORTED, "there is only broken.table/1");
    }
    static const int only = 1;
    *table = &only;
  });
}

/// The host's facts, with what this fault does not want to see replaced.
lra_host_info blinded(const lra_host_info& host) {
  lra_host_info seen = host;
  if (fault("any-major")) seen.abi_major_min = seen.abi_major_max = LRA_VERSION_MAJOR;
  if (fault("any-torch")) {
    seen.torch_version = good.torch_version;
    seen.torch_version_size = std::strlen(good.torch_version);
  }
  if (fault("any-cxx-abi")) seen.cxx_abi_size = 0;
  if (fault("drops-host-fields")) seen.struct_size = std::min<std::uint32_t>(seen.struct_size, sizeof seen);
  return seen;
}

/// As many bytes as the caller has room for, half an entry at the end.
void copy_halves(lra_api* api, std::uint32_t size, const lra_api& own) {
  if (size <= offsetof(lra_api, init)) return;
  std::memcpy(reinterpret_cast<char*>(api) + sizeof size, reinterpret_cast<const char*>(&own) + sizeof size,
              std::min<std::size_t>(size, sizeof own) - sizeof size);
  api->struct_size = size;
}

}  // namespace
}  // namespace broken

std::unique_ptr<lerobot::sdk::Backend> lerobot::sdk::make_backend(const Log&) {
  return std::make_unique<broken::CpuTwice>();
}

LRA_EXPORT lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error) {
  using namespace broken;
  good = lerobot::sdk::torch_plugin(LEROBOT_PLUGIN_ID, LEROBOT_PLUGIN_VERSION);
  good.tf32_get = tf32_get;
  good.tf32_set = tf32_set;
  good.memory_stats = memory_stats;
  good.get_extension = get_extension;
  lra_api own = good;
  spoil_functions(own);
  spoil_training(own);
  spoil_with_torch(own);
  if (fault("other-id")) lerobot::sdk::copy_text(own.plugin_id, "somebody_else");
  if (fault("half-autocast")) own.autocast_exit = nullptr;

  lra_host_info seen{};
  const bool blind = fault("any-major") || fault("any-torch") || fault("any-cxx-abi") || fault("drops-host-fields");
  if (blind && host != nullptr && host->struct_size >= sizeof *host) {
    seen = blinded(*host);
    host = &seen;
  }
  if (fault("refuses-sanitized-hosts") && host != nullptr && host->sanitizers != 0) return LRA_INCOMPATIBLE;
  const std::uint32_t room = api == nullptr ? 0 : api->struct_size;
  const lra_status status = lerobot::sdk::answer_handshake(host, api, error, own);
  if (fault("half-entries") && status == LRA_OK) copy_halves(api, room, own);
  if (fault("answers-refused-hosts") && status != LRA_OK && room >= sizeof *api) api->abi_major = 1;
  if (fault("refuses-in-silence") && status != LRA_OK && error != nullptr) error->message[0] = 0;
  if (fault("writes-error-of-success") && status == LRA_OK && error != nullptr) error->code = LRA_OK;
  return status;
}
