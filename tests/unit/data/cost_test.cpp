// What opening a dataset and loading a sample cost, in counts that do not depend on the clock.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "host/data/loader.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace {

std::atomic<std::int64_t> g_allocations = 0;
std::atomic<std::int64_t> g_live_bytes = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  ++g_allocations;
  g_live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) g_live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace lerobot::data {
namespace {

/// Bytes that this process has read so far, out of the page cache too.
std::int64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::int64_t bytes = 0;
  file >> name >> bytes;
  return bytes;
}

struct Cost {
  double allocations = 0, kept_bytes = 0, read_bytes = 0;
};

Cost cost_of_opening(std::int64_t frames, const std::optional<std::vector<std::string>>& features) {
  const TempDirectory directory;
  SyntheticDataset source;
  for (std::int64_t i = 0; i < 10; ++i) source.episodes.push_back({i, frames / 10});
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  options.features = features;
  const std::int64_t allocations = g_allocations, live = g_live_bytes, read = bytes_read();
  const Dataset dataset(options);
  return {static_cast<double>(g_allocations - allocations), static_cast<double>(g_live_bytes - live),
          static_cast<double>(bytes_read() - read)};
}

/// The cost of one frame more.
Cost cost_per_frame(const std::optional<std::vector<std::string>>& features) {
  constexpr std::int64_t kFew = 50000, kMany = 250000;
  cost_of_opening(kFew, features);  // what is made once in a process
  const Cost few = cost_of_opening(kFew, features), many = cost_of_opening(kMany, features);
  const double frames = kMany - kFew;
  return {(many.allocations - few.allocations) / frames, (many.kept_bytes - few.kept_bytes) / frames,
          (many.read_bytes - few.read_bytes) / frames};
}

// A frame of the synthetic dataset: a state of two floats (8 bytes), timestamp (4), four integers (32).
TEST(CostOfOpening, IsPerFrameItsColumnsAndNoObjects) {
  const Cost frame = cost_per_frame(std::nullopt);
  EXPECT_LT(frame.allocations, 0.1);
  EXPECT_NEAR(frame.kept_bytes, 8 + 4 + 32 + 4, 1) << "and the episode's place (4)";
  EXPECT_LT(frame.read_bytes, 48) << "compressed columns, each read once";
}

TEST(CostOfOpening, LeavesOutWhatNobodyAsksFor) {
  EXPECT_NEAR(cost_per_frame({{"observation.state"}}).kept_bytes, 8 + 4 + 24 + 4, 1) << "no column index";
  EXPECT_NEAR(cost_per_frame({{}}).kept_bytes, 4 + 24 + 4, 1) << "only what the checks need";
}

/// Bytes of memory in use: now ("VmRSS"), or at most so far ("VmHWM").
std::int64_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return -1;
}

// The column that nobody asks for is three quarters of the file.
TEST(MemoryOfOpening, OfOneLargeRowGroupIsThatOfTheColumnsAskedFor) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer keeps freed memory";
#endif
  constexpr std::int64_t kRows = 100'000, kWidth = 28;
  const TempDirectory directory;
  {
    SyntheticDataset source;
    source.episodes = {{0, kRows}};
    std::uint32_t random = 1;
    const auto noise = [&random](const auto&, std::int64_t, std::int64_t) {
      random = random * 1664525 + 1013904223;
      return static_cast<float>(random >> 8);
    };
    source.numbers = {{"observation.all", kWidth, noise}, {"large", 200, noise}};
    source.write(directory.path());
  }
  const auto file_bytes =
      static_cast<std::int64_t>(std::filesystem::file_size(directory.path() / "data/chunk-000/file-000.parquet"));
  DatasetOptions options;
  options.root = directory.path();
  options.features = {{"observation.all"}};
  malloc_trim(0);
  const std::int64_t before = status_bytes("VmRSS");
  std::ofstream("/proc/self/clear_refs") << 5;  // forget the peak so far
  const Dataset dataset(options);
  const std::int64_t growth = status_bytes("VmHWM") - before;
  const std::int64_t compact = kRows * (kWidth * 4 + 4 + 3 * 8 + 4);
  ASSERT_GT(file_bytes, 5 * compact);
  EXPECT_LT(growth, 2 * compact + (std::int64_t{16} << 20)) << file_bytes;
  EXPECT_EQ(dataset.num_frames(), kRows);
}

std::int64_t allocations_of_a_batch(const std::shared_ptr<const Dataset>& dataset, std::int64_t batch_size) {
  LoaderOptions options;
  options.num_workers = 0;
  options.batch_size = batch_size;
  DataLoader loader(dataset, options);
  loader.next();
  const std::int64_t before = g_allocations;
  loader.next();
  return g_allocations - before;
}

TEST(CostOfASample, IsNoAllocationWhenItsFramesAreCached) {
  const TempDirectory directory;
  SyntheticDataset source;
  source.camera = R"({"dtype": "image", "shape": [4, 4, 1], "names": ["height", "width", "channels"]})";
  source.episodes = {{0, 100}, {1, 100}};
  const std::vector<std::byte> image = encode_image("png", "gray", 4, 4, std::vector<std::uint8_t>(16, 9));
  source.image = [&](std::int64_t) { return image; };
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  options.delta_timestamps["observation.state"] = {-0.1, 0, 0.1};
  options.delta_timestamps["observation.image"] = {-0.1, 0};
  const auto dataset = std::make_shared<const Dataset>(options);
  for (std::int64_t row = 0; row < dataset->num_frames(); ++row) dataset->item(row);
  EXPECT_EQ(allocations_of_a_batch(dataset, 50), allocations_of_a_batch(dataset, 10));
}

TEST(CostOfABatch, IsNoNewMemoryForItsTensors) {
  const TempDirectory directory;
  SyntheticDataset source;
  source.episodes = {{0, 200}};
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  for (const std::int64_t workers : {0, 2}) {
    LoaderOptions loading;
    loading.num_workers = workers;
    loading.batch_size = 100;
    DataLoader loader(std::make_shared<const Dataset>(options), loading);
    std::vector<const std::byte*> seen;
    bool again = false;
    for (int i = 0; i < 30; ++i) {
      const Batch batch = loader.next();
      const std::byte* memory = batch.tensors.find("observation.state")->data.get();
      again = again || std::find(seen.begin(), seen.end(), memory) != seen.end();
      seen.push_back(memory);
    }
    EXPECT_TRUE(again) << workers << " workers";
  }
}

}  // namespace
}  // namespace lerobot::data
