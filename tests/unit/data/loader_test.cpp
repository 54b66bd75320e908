#include "host/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "host/base/affinity.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::byte> good_image() {
  return encode_image("png", "gray", 4, 4, std::vector<std::uint8_t>(16, 9));
}

/// Twenty frames with images, of which one is no image at all.
std::shared_ptr<const Dataset> with_bad_image(const TempDirectory& directory, std::int64_t bad_row) {
  SyntheticDataset source;
  source.camera = R"({"dtype": "image", "shape": [4, 4, 1], "names": ["height", "width", "channels"]})";
  source.episodes = {{0, 12}, {4, 8}};
  source.image = [bad_row](std::int64_t row) { return row == bad_row ? std::vector<std::byte>(5) : good_image(); };
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  return std::make_shared<const Dataset>(options);
}

TEST(DataLoader, NamesTheSampleThatFailedNowAndAtEveryLaterCall) {
  const TempDirectory directory;
  const auto dataset = with_bad_image(directory, 17);
  for (const std::int64_t workers : {0, 1, 3}) {
    LoaderOptions options;
    options.num_workers = workers;
    options.batch_size = 4;
    DataLoader loader(dataset, options);
    const std::string message = data_error_of([&] {
      for (int i = 0; i < 5; ++i) loader.next();
    });
    EXPECT_THAT(message, AllOf(HasSubstr("sample row 17 (episode 4, frame 5)"), HasSubstr("neither PNG nor JPEG"),
                               HasSubstr("data/chunk-000/file-000.parquet")));
    EXPECT_EQ(data_error_of([&] { loader.next(); }), message);
  }
}

/// The rows of steps [begin, 60) of a run that starts there, in batches of four.
std::vector<std::vector<std::int64_t>> rows_of_steps(const std::shared_ptr<const Dataset>& dataset, std::int64_t begin,
                                                     std::int64_t workers) {
  LoaderOptions options;
  options.batch_size = 4;
  options.num_workers = workers;
  options.start = position_after(begin, dataset->num_frames(), options.batch_size);
  DataLoader loader(dataset, options);
  std::vector<std::vector<std::int64_t>> rows;
  for (std::int64_t step = begin; step < 60; ++step) rows.push_back(loader.next().rows);
  return rows;
}

// Epochs of 26 batches, the last of three frames: starts inside, at the borders of, and beyond the first and second.
TEST(DataLoader, ResumedAnywhereGivesTheSamplesOfAStraightRun) {
  const TempDirectory directory;
  SyntheticDataset source;
  source.episodes = {{0, 20}, {1, 13}, {2, 1}, {3, 30}, {4, 39}};
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  const auto dataset = std::make_shared<const Dataset>(options);
  const auto straight = rows_of_steps(dataset, 0, 0);
  EXPECT_EQ(straight[25].size(), 3U);
  std::vector<std::int64_t> epoch;
  for (std::size_t i = 0; i < 26; ++i) epoch.insert(epoch.end(), straight[i].begin(), straight[i].end());
  std::sort(epoch.begin(), epoch.end());
  EXPECT_EQ(std::adjacent_find(epoch.begin(), epoch.end()), epoch.end());
  EXPECT_EQ(epoch.size(), 103U);
  for (const std::int64_t split : {1, 25, 26, 27, 52}) {
    const std::vector<std::vector<std::int64_t>> rest(straight.begin() + split, straight.end());
    for (const std::int64_t workers : {0, 2}) {
      EXPECT_EQ(rows_of_steps(dataset, split, workers), rest) << "from " << split << ", " << workers << " workers";
    }
  }
}

TEST(DataLoader, StopsWhileItsWorkersAreBusy) {
  const TempDirectory directory;
  const auto dataset = with_bad_image(directory, -1);
  for (int i = 0; i < 20; ++i) {
    LoaderOptions options;
    options.batch_size = 7;
    DataLoader loader(dataset, options);
    if (i % 2 == 0) loader.next();
  }
}

TEST(DataLoader, CallsTheStartFunctionInEachWorker) {
  const TempDirectory directory;
  std::atomic<int> started = 0;
  LoaderOptions options;
  options.num_workers = 3;
  options.on_thread_start = [&] { ++started; };
  {
    DataLoader loader(with_bad_image(directory, -1), options);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(loader.next().tasks.front(), "push");
  }
  EXPECT_GE(started, 1);
  EXPECT_LE(started, 3);
}

std::size_t cores_of_this_thread() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? static_cast<std::size_t>(CPU_COUNT(&cores)) : 0;
}

TEST(DataLoader, RunsItsWorkersOnAllCoresOfTheProcessThoughItsMakerIsBoundToOne) {
  const std::size_t all = cores_of_this_thread();
  if (all < 2) GTEST_SKIP() << "one core only";
  const TempDirectory directory;
  const auto dataset = with_bad_image(directory, -1);
  std::atomic<std::size_t> found = 0;
  std::thread maker([&] {
    remember_cores();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    LoaderOptions options;
    options.num_workers = 1;
    options.on_thread_start = [&] { found = cores_of_this_thread(); };
    DataLoader(dataset, options).next();
    EXPECT_EQ(cores_of_this_thread(), 1U) << "the maker itself stays where it is";
  });
  maker.join();
  EXPECT_EQ(found, all);
}

TEST(DataLoader, PassesOnWhatTheStartFunctionThrows) {
  const TempDirectory directory;
  LoaderOptions options;
  options.on_thread_start = [] { throw Error(ErrorKind::kData, "no thread for you"); };
  DataLoader loader(with_bad_image(directory, -1), options);
  EXPECT_EQ(data_error_of([&] { loader.next(); }), "no thread for you");
}

TEST(DataLoader, WarnsWhenItsWorkersAreSilentAndGoesOn) {
  const TempDirectory directory;
  LoaderOptions options;
  options.stall_warning_s = 0.05;
  options.on_thread_start = [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
  testing::internal::CaptureStderr();
  DataLoader loader(with_bad_image(directory, -1), options);
  EXPECT_EQ(loader.next().rows.size(), 8u);
  log::flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("waiting for 0.05 s"));
}

TEST(DataLoader, RefusesSizesThatMakeNoSense) {
  const TempDirectory directory;
  const auto dataset = with_bad_image(directory, -1);
  LoaderOptions options;
  options.batch_size = 0;
  EXPECT_THROW(DataLoader(dataset, options), Error);
  options.batch_size = 1;
  options.num_workers = -1;
  EXPECT_THROW(DataLoader(dataset, options), Error);
}

TEST(DataLoader, LeavesOutTheLastFramesOfEachEpisode) {
  const TempDirectory directory;
  LoaderOptions options;
  options.drop_n_last_frames = 3;
  options.batch_size = 14;
  DataLoader loader(with_bad_image(directory, -1), options);
  EXPECT_EQ(loader.batches_per_epoch(), 1);
  std::vector<std::int64_t> rows = loader.next().rows;
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16}));
}

TEST(DataLoader, GivesGivenRowsOnceInTheirOrderAtAnyNumberOfWorkers) {
  const TempDirectory directory;
  const auto dataset = with_bad_image(directory, -1);
  for (const std::int64_t workers : {0, 1, 3}) {
    LoaderOptions options;
    options.num_workers = workers;
    options.batch_size = 4;
    options.rows = {{19, 3, 3, 0, 7, 12, 1, 18, 2}};
    DataLoader loader(dataset, options);
    EXPECT_EQ(loader.num_samples(), 9);
    EXPECT_EQ(loader.batches_per_epoch(), 3);
    EXPECT_EQ(loader.next().rows, (std::vector<std::int64_t>{19, 3, 3, 0}));
    EXPECT_EQ(loader.next().rows, (std::vector<std::int64_t>{7, 12, 1, 18}));
    const Batch last = loader.next();
    EXPECT_EQ(last.rows, std::vector<std::int64_t>{2});
    EXPECT_EQ(last.tensors.find("observation.state")->shape, (std::vector<std::int64_t>{1, 2}));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(loader.next().rows.empty()) << workers << " workers";
  }
}

TEST(Collate, RefusesShapesThatDiffer) {
  std::vector<Item> items(2);
  items[0].tensors["image"] = make_buffer(DType::kUInt8, {3, 2, 2});
  items[1].tensors["image"] = make_buffer(DType::kUInt8, {3, 2, 4});
  EXPECT_THAT(data_error_of([&] { collate(items); }),
              AllOf(HasSubstr("image"), HasSubstr("(3, 2, 2)"), HasSubstr("(3, 2, 4)")));
}

}  // namespace
}  // namespace lerobot::data
