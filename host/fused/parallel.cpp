#include "host/fused/parallel.h"

#include <ATen/TensorIterator.h>
#include <ATen/ops/empty.h>

namespace lerobot::fused {
namespace {

/// The way to torch's own threads: at::parallel_for is a template, which would have to be compiled for the OpenMP
/// runtime that libtorch was built with, and every libtorch may have another. TensorIterator's loop is compiled into
/// libtorch. It runs here over bytes that nobody reads; their addresses say which part of the work is meant.
class Slots {
 public:
  static constexpr std::int64_t kCount = 4096;

  Slots() : bytes_(at::empty({kCount}, at::kByte)), iterator_(at::TensorIterator::nullary_op(bytes_)) {}

  /// body(begin, end) on parts of [0, kCount), each on a thread of its own.
  void run(c10::function_ref<void(std::int64_t, std::int64_t)> body) {
    const char* first = static_cast<const char*>(bytes_.const_data_ptr());
    const auto loop = [&](char** data, const std::int64_t*, std::int64_t count, std::int64_t) {
      const std::int64_t begin = data[0] - first;
      body(begin, begin + count);
    };
    iterator_.for_each(loop, /*grain_size=*/1);
  }

 private:
  at::Tensor bytes_;
  at::TensorIterator iterator_;
};

}  // namespace

void parallel_for(std::int64_t n, std::int64_t grain, c10::function_ref<void(std::int64_t, std::int64_t)> body) {
  if (n <= grain) {
    if (n > 0) body(0, n);
    return;
  }
  thread_local Slots slots;
  // Parts of the slots, so many that each is worth a thread, are parts of the work.
  const std::int64_t parts = std::min(n / grain, Slots::kCount);
  slots.run([&](std::int64_t begin, std::int64_t end) {
    const auto edge = [&](std::int64_t slot) { return (slot * parts / Slots::kCount) * n / parts; };
    if (edge(begin) < edge(end)) body(edge(begin), edge(end));
  });
}

}  // namespace lerobot::fused
