// The data room alone: seconds to open a dataset, and the samples per second that the loader can give to a trainer.
//   loader_bench [Google Benchmark's flags] [DATASET...]      without one: the datasets in tests/data
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/data/dataset.h"
#include "host/data/loader.h"

namespace lerobot::data {
namespace {

constexpr std::int64_t kBatchSize = 8;
constexpr std::int64_t kChunkSize = 100;  // ACT's actions per sample
constexpr std::size_t kCacheBytes = std::size_t{4} << 30;
constexpr std::int64_t kWorkers[] = {0, 1, 2, 4};

/// What ACT asks for: one frame of each camera and the next kChunkSize actions.
DatasetOptions act_options(const std::filesystem::path& root, std::size_t cache_bytes) {
  DatasetOptions options;
  options.root = root;
  options.frame_cache_bytes = cache_bytes;
  const double fps = DatasetMetadata::load(root).fps();
  std::vector<double>& seconds = options.delta_timestamps["action"];
  for (std::int64_t i = 0; i < kChunkSize; ++i) seconds.push_back(static_cast<double>(i) / fps);
  return options;
}

void open_dataset(benchmark::State& state, const std::filesystem::path& root) {
  for (auto _ : state) {
    const Dataset dataset(act_options(root, 0));
    benchmark::DoNotOptimize(dataset.num_frames());
  }
}

/// The steady state: the batches that were made before the clock started are taken out first.
void load_batches(benchmark::State& state, const std::shared_ptr<const Dataset>& dataset, std::int64_t workers) {
  LoaderOptions options;
  options.batch_size = kBatchSize;
  options.num_workers = workers;
  DataLoader loader(dataset, options);
  for (std::int64_t i = 0; i < workers * options.prefetch_factor; ++i) loader.next();
  std::size_t samples = 0;
  for (auto _ : state) samples += loader.next().rows.size();
  state.SetItemsProcessed(static_cast<std::int64_t>(samples));
}

/// Decodes every frame once, in order. Thereafter no frame is decoded again if all of them fit into the cache.
void fill_cache(const Dataset& dataset) {
  for (std::int64_t row = 0; row < dataset.num_frames(); ++row) dataset.item(row);
}

void add_benchmarks(const std::filesystem::path& root) {
  const std::string name = root.filename().string();
  benchmark::RegisterBenchmark(("open/" + name).c_str(), [root](benchmark::State& state) { open_dataset(state, root); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  const auto cold = std::make_shared<const Dataset>(act_options(root, 0));
  const auto cached = std::make_shared<const Dataset>(act_options(root, kCacheBytes));
  const bool has_camera = !cold->metadata().camera_keys().empty();
  for (const auto& [label, dataset] : {std::pair("cold", cold), std::pair("cached", cached)}) {
    if (dataset == cached && !has_camera) continue;  // nothing is decoded, so nothing is cached
    for (const std::int64_t workers : kWorkers) {
      const std::string full_name = "load/" + name + "/" + label + "/workers:" + std::to_string(workers);
      const bool fill = dataset == cached;
      const auto body = [=](benchmark::State& state) {
        if (fill) fill_cache(*dataset);
        load_batches(state, dataset, workers);
      };
      benchmark::RegisterBenchmark(full_name.c_str(), body)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime()
          ->MeasureProcessCPUTime();
    }
  }
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::filesystem::path> roots(argv + 1, argv + argc);
  if (roots.empty()) {
    for (const char* name : {"pusht_keypoints", "pusht_sim", "pusht_image", "aloha_sim"}) {
      roots.push_back(std::filesystem::path(LEROBOT_TEST_DATA) / "datasets" / name);
    }
  }
  for (const auto& root : roots) add_benchmarks(std::filesystem::canonical(root));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace lerobot::data

int main(int argc, char** argv) {
  try {
    return lerobot::data::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "loader_bench: %s\n", error.what());
    return 1;
  }
}
