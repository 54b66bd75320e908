// Selftest, TF32, seeds and memory.
#include "host/accel/abi.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

void selftest(Run& run) {
  run.start();
  for (std::uint32_t i = 0; i < run.device_count(); ++i) {
    run.ok(run.api().activate_device(run.context(), i, run.error()), format("activate_device of device {}", i));
    run.ok(run.api().selftest(run.context(), i, run.error()), format("selftest of device {}", i));
  }
}

lra_tf32 tf32_state(Run& run) {
  auto state = sized<lra_tf32>();
  run.require_ok(run.api().tf32_get(run.context(), &state, run.error()), "tf32_get");
  return state;
}

void expect_tf32(Run& run, std::uint32_t matmul, std::uint32_t convolution, const char* after) {
  const lra_tf32 state = tf32_state(run);
  run.expect(state.matmul == matmul && state.convolution == convolution,
             "{}: tf32_get says {} and {}, needed {} and {}", after, state.matmul, state.convolution, matmul,
             convolution);
}

/// Leave, off and on, for matrix products and convolutions apart, read back each time. Where one switch stands for both
/// they may be refused to differ, and nothing has changed then.
void tf32(Run& run) {
  run.start();
  if (!run.api().tf32_get || !run.api().tf32_set) throw Skipped("the plugin has no TF32");
  const auto set = [&](std::uint32_t matmul, std::uint32_t convolution) {
    auto settings = sized<lra_tf32>();
    settings.matmul = matmul;
    settings.convolution = convolution;
    return run.api().tf32_set(run.context(), &settings, run.error());
  };
  const auto change = [&](std::uint32_t matmul, std::uint32_t convolution, const char* what) {
    const lra_tf32 before = tf32_state(run);
    const std::uint32_t wanted_matmul = matmul == LRA_TF32_LEAVE ? before.matmul : matmul;
    const std::uint32_t wanted_convolution = convolution == LRA_TF32_LEAVE ? before.convolution : convolution;
    const lra_status status = set(matmul, convolution);
    if (status == LRA_UNSUPPORTED && wanted_matmul != wanted_convolution) {
      return expect_tf32(run, before.matmul, before.convolution, "refused to differ");
    }
    run.ok(status, what);
    expect_tf32(run, wanted_matmul, wanted_convolution, what);
  };
  run.require_ok(set(LRA_TF32_OFF, LRA_TF32_OFF), "both off");
  expect_tf32(run, LRA_TF32_OFF, LRA_TF32_OFF, "both off");
  bool capable = false;
  for (std::uint32_t i = 0; i < run.device_count(); ++i) capable |= (run.device(i).capabilities & LRA_CAP_TF32) != 0;
  if (capable) {
    const std::uint32_t states[] = {LRA_TF32_OFF, LRA_TF32_ON};
    for (const std::uint32_t matmul : states) {
      for (const std::uint32_t convolution : states) {
        change(matmul, convolution, "tf32_set");
        change(LRA_TF32_LEAVE, LRA_TF32_LEAVE, "tf32_set to leave both");
        change(LRA_TF32_LEAVE, LRA_TF32_OFF, "tf32_set to leave matmul");
        change(LRA_TF32_OFF, LRA_TF32_LEAVE, "tf32_set to leave convolution");
      }
    }
    run.ok(set(LRA_TF32_OFF, LRA_TF32_OFF), "both off");
  } else {
    run.refused(set(LRA_TF32_ON, LRA_TF32_LEAVE), LRA_UNSUPPORTED, "matmul on without LRA_CAP_TF32");
    run.refused(set(LRA_TF32_LEAVE, LRA_TF32_ON), LRA_UNSUPPORTED, "convolution on without LRA_CAP_TF32");
    run.ok(set(LRA_TF32_LEAVE, LRA_TF32_OFF), "tf32_set to leave matmul");
  }
  run.refused(set(7, LRA_TF32_LEAVE), LRA_INVALID_ARGUMENT, "matmul set to 7");
  run.refused(set(LRA_TF32_ON, 7), LRA_INVALID_ARGUMENT, "convolution set to 7");
  expect_tf32(run, LRA_TF32_OFF, LRA_TF32_OFF, "after refusals, which change nothing");
}

void seed(Run& run) {
  run.start();
  if (!run.api().seed) throw Skipped("the plugin leaves seeding to torch");
  const auto numbers = [&](std::uint64_t value) {
    run.require_ok(run.api().seed(run.context(), 0, value, run.error()), "seed");
    return run.tensors().random(64);
  };
  const auto first = numbers(1000);
  run.expect(run.tensors().random(64) != first, "the generator gives the same numbers again without a seed");
  run.expect(numbers(1000) == first, "the same seed gives other numbers");
  run.expect(numbers(1001) != first, "another seed gives the same numbers");
}

void memory_stats(Run& run) {
  run.start();
  if (!run.api().memory_stats) throw Skipped("the plugin has no memory statistics");
  const auto read = [&] {
    auto stats = sized<lra_memory_stats>();
    const lra_status status = run.api().memory_stats(run.context(), 0, &stats, run.error());
    if (status == LRA_UNSUPPORTED) throw Skipped(accel::bounded_text(run.error()->message));
    run.require_ok(status, "memory_stats");
    run.expect(stats.allocated_peak >= stats.allocated && stats.cached_peak >= stats.cached,
               "a peak is below the present: {} of {} allocated, {} of {} cached", stats.allocated_peak,
               stats.allocated, stats.cached_peak, stats.cached);
    run.expect(stats.cached >= stats.allocated, "{} bytes in tensors, {} held by the allocator", stats.allocated,
               stats.cached);
    run.expect(stats.total == 0 || stats.free <= stats.total, "{} of {} bytes are free", stats.free, stats.total);
    return stats;
  };
  constexpr std::uint64_t kBytes = 16 << 20;
  const lra_memory_stats before = read();
  auto tensor = run.tensors().reserve(kBytes);
  const lra_memory_stats during = read();
  run.expect(during.allocated >= before.allocated + kBytes, "a tensor of {} bytes raises allocated from {} to {}",
             kBytes, before.allocated, during.allocated);
  tensor.reset();
  const lra_memory_stats after = read();
  run.expect(after.allocated + kBytes <= during.allocated, "freeing {} bytes lowers allocated from {} to {}", kBytes,
             during.allocated, after.allocated);
  run.expect(after.allocated_peak >= during.allocated, "allocated_peak is {}, {} were in use", after.allocated_peak,
             during.allocated);
}

}  // namespace

std::vector<Check> numerics_checks() {
  return {
      {"numerics.selftest", "every device passes the plugin's selftest", selftest},
      {"numerics.tf32", "off, on and leave are read back, matmul and convolution apart", tf32},
      {"numerics.seed", "a seed repeats the device's random numbers", seed},
      {"numerics.memory-stats", "memory statistics follow a tensor that comes and goes", memory_stats},
  };
}

}  // namespace lerobot::check
