#include "host/fused/parameters.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "host/fused/parallel.h"

namespace lerobot::fused {
namespace {

TEST(ParallelFor, CoversEverythingOnceOnTheThreadsThatTorchHas) {
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 7}) {
    at::set_num_threads(threads);
    for (const std::int64_t n : {0, 1, 5, 31, 4095, 4096, 4097, 100003}) {
      for (const std::int64_t grain : {1, 3, 1000}) {
        std::vector<std::atomic<int>> visits(n);
        std::atomic<int> calls = 0;
        parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
          ++calls;
          for (std::int64_t i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; }))
            << n << " " << grain;
        EXPECT_LE(calls, threads);
        if (n >= 4096 && grain == 1) {
          EXPECT_EQ(calls, threads);
        }
      }
    }
  }
  at::set_num_threads(before);
}

TEST(Norm, IsThatOfAllElementsTogether) {
  const std::vector<at::Tensor> tensors{at::randn({300, 500}), at::randn({7}), at::randn({1, 2, 3})};
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}).to(at::kDouble));
  const double exact = at::cat(flat).norm().item<double>();
  EXPECT_NEAR(norm(tensors), exact, 1e-9 * exact);
  EXPECT_EQ(norm({}), 0);
}

TEST(MoveAverages, HasTheBitsOfTorchsOperators) {
  const std::vector<at::Tensor> averages{at::randn({300, 500}), at::randn({7})},
      values{at::randn({300, 500}), at::randn({7})};
  std::vector<at::Tensor> expected;
  for (std::size_t i = 0; i < averages.size(); ++i) expected.push_back(averages[i] - (averages[i] - values[i]) * 0.3F);
  move_averages(averages, values, 0.3F);
  for (std::size_t i = 0; i < averages.size(); ++i) EXPECT_TRUE(averages[i].equal(expected[i]));
}

}  // namespace
}  // namespace lerobot::fused
