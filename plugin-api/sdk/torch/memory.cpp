#include "sdk/torch/memory.h"

#include <c10/core/CachingDeviceAllocator.h>

#include "sdk/failure.h"

namespace lerobot::sdk {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatType;

[[noreturn]] void refuse(c10::Device device) {
  throw Failure(LRA_UNSUPPORTED, "torch's allocator for " + device.str() + " keeps no statistics");
}

/// The allocator when it counts. at::getDeviceAllocator would throw an internal error of torch instead.
c10::DeviceAllocator* counting_allocator(c10::Device device) {
  if (device.is_cpu()) return nullptr;
  return dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
}

const Stat& total(const c10::CachingAllocator::StatArray& stats) {
  return stats[static_cast<std::size_t>(StatType::AGGREGATE)];
}

std::uint64_t bytes(std::int64_t count) {
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

/// What the driver says, where the allocator asks it.
void add_driver_view(c10::DeviceAllocator& allocator, c10::Device device, lra_memory_stats& stats) {
  try {
    const auto [free, size] = allocator.getMemoryInfo(device.index());
    stats.free = free;
    stats.total = size;
  } catch (const c10::NotImplementedError&) {  // both stay unknown
  }
}

}  // namespace

lra_memory_stats read_memory(c10::Device device) {
  lra_memory_stats stats{};
  c10::DeviceAllocator* const allocator = counting_allocator(device);
  if (allocator == nullptr) refuse(device);
  if (!allocator->initialized()) return stats;  // nothing was allocated yet
  try {
    const auto counted = allocator->getDeviceStats(device.index());
    stats.allocated = bytes(total(counted.allocated_bytes).current);
    stats.allocated_peak = bytes(total(counted.allocated_bytes).peak);
    stats.cached = bytes(total(counted.reserved_bytes).current);
    stats.cached_peak = bytes(total(counted.reserved_bytes).peak);
  } catch (const c10::NotImplementedError&) {
    refuse(device);
  }
  add_driver_view(*allocator, device, stats);
  return stats;
}

}  // namespace lerobot::sdk
