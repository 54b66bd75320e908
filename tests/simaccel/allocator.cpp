#include "allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <array>
#include <memory>
#include <mutex>

#include "controls.h"
#include "counters.h"
#include "guard.h"

namespace lerobot::simaccel {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

constexpr std::size_t kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

/// A device's books.
class Ledger {
 public:
  void add(std::uint64_t bytes, c10::DeviceIndex device) {
    const auto controls = simaccel::controls();
    const std::uint64_t number = count_allocation(device);
    const std::lock_guard lock(mutex_);
    const auto used = static_cast<std::uint64_t>(stats_.allocated_bytes[kAll].current);
    if (used + bytes > controls->memory || number == controls->oom_at) {
      ++stats_.num_ooms;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "simaccel:", static_cast<int>(device), " is out of memory: ", bytes,
                       " bytes wanted, ", used, " of ", controls->memory, " in use (allocation ", number, ")");
    }
    stats_.allocation[kAll].increase(1);
    stats_.allocated_bytes[kAll].increase(bytes);
    stats_.reserved_bytes[kAll].increase(bytes);
    publish(device);
  }

  void remove(std::uint64_t bytes, c10::DeviceIndex device) {
    const std::lock_guard lock(mutex_);
    stats_.allocation[kAll].decrease(1);
    stats_.allocated_bytes[kAll].decrease(bytes);
    stats_.reserved_bytes[kAll].decrease(bytes);
    publish(device);
  }

  DeviceStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    for (auto* stat : {&stats_.allocation[kAll], &stats_.allocated_bytes[kAll], &stats_.reserved_bytes[kAll]}) {
      change(*stat);
    }
  }

 private:
  void publish(c10::DeviceIndex device) const {
    const auto& bytes = stats_.allocated_bytes[kAll];
    counters().devices[device].bytes = static_cast<std::uint64_t>(bytes.current);
    counters().devices[device].peak_bytes = static_cast<std::uint64_t>(bytes.peak);
  }

  std::mutex mutex_;
  DeviceStats stats_;
};

Ledger& ledger(c10::DeviceIndex device) {
  static auto* const all = new std::array<Ledger, kMaxDevices>;  // tensors may outlive every static object
  return all->at(static_cast<std::size_t>(device));
}

/// One allocation, alive as long as its DataPtr.
struct Block {
  c10::Storage host;
  std::uint64_t bytes;
  c10::DeviceIndex device;
};

void release(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  ledger(block->device).remove(block->bytes, block->device);
}

class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    c10::Storage host(c10::Storage::use_byte_size_t(), static_cast<std::int64_t>(bytes), c10::GetCPUAllocator(), false);
    return adopt_memory(std::move(host), current_device());
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  DeviceStats getDeviceStats(c10::DeviceIndex device) override { return ledger(device).stats(); }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    ledger(device).change([](auto& stat) { stat.reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    ledger(device).change([](auto& stat) { stat.reset_peak(); });
  }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override {
    const std::uint64_t total = controls()->memory;
    const auto used = static_cast<std::uint64_t>(ledger(device).stats().allocated_bytes[kAll].current);
    return {total - std::min(used, total), total};
  }
};

}  // namespace

c10::DataPtr adopt_memory(c10::Storage host, c10::Device device) {
  const std::uint64_t bytes = host.nbytes();
  ledger(device.index()).add(bytes, device.index());
  void* memory = host.mutable_data();
  return {memory, new Block{std::move(host), bytes, device.index()}, release, device};
}

c10::Allocator* allocator() {
  static auto* const only = new Allocator;
  return only;
}

void register_allocator() {
  c10::SetAllocator(kSim, allocator());
}

}  // namespace lerobot::simaccel
