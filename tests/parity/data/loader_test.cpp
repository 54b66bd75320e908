// The loader's batches against the frames that lerobot-train recorded, and against themselves with other workers.
#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <cstring>

#include "host/base/json.h"
#include "host/data/loader.h"
#include "host/data/sampler.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

const std::filesystem::path kData = LEROBOT_TEST_DATA;

std::shared_ptr<const Dataset> open(const std::string& name) {
  DatasetOptions options;
  options.root = kData / "datasets" / name;
  return std::make_shared<const Dataset>(std::move(options));
}

LoaderOptions recorded_run() {
  LoaderOptions options;
  options.seed = 1000;
  return options;
}

std::vector<std::int64_t> index_column(const Batch& batch) {
  const Buffer& index = *batch.tensors.find("index");
  return {elements_of<std::int64_t>(index), elements_of<std::int64_t>(index) + index.elements()};
}

TEST(DataLoader, GivesTheFramesOfTheRecordedRun) {
  const bj::value trace = json::read_file(kData / "checkpoints/act_keypoints/trace.json", ErrorKind::kData);
  DataLoader loader(open("pusht_keypoints"), recorded_run());
  for (const bj::value& update : trace.as_object().at("updates").as_array()) {
    const auto expected = bj::value_to<std::vector<std::int64_t>>(update.as_object().at("frames"));
    EXPECT_EQ(index_column(loader.next()), expected) << "step " << update.as_object().at("step").as_int64();
  }
}

TEST(DataLoader, ResumesWhereTheRecordedRunWas) {
  const bj::value trace = json::read_file(kData / "checkpoints/act_keypoints/trace_resumed.json", ErrorKind::kData);
  LoaderOptions options = recorded_run();
  options.start = position_after(20, 1270, options.batch_size);
  DataLoader loader(open("pusht_keypoints"), options);
  for (const bj::value& update : trace.as_object().at("updates").as_array()) {
    const auto expected = bj::value_to<std::vector<std::int64_t>>(update.as_object().at("frames"));
    EXPECT_EQ(index_column(loader.next()), expected) << "step " << update.as_object().at("step").as_int64();
  }
}

TEST(DataLoader, StartsAResumedRunAtPythonsEpochAndIndex) {
  const auto dataset = open("pusht_keypoints");
  const bj::value golden = json::read_file(kData / "goldens/sampler.json", ErrorKind::kData);
  std::size_t checked = 0;
  for (const bj::value& value : golden.as_object().at("compute_sampler_state").as_array()) {
    const bj::object& state = value.as_object();
    const LoaderStart start = position_after(state.at("step").as_int64(), state.at("num_frames").as_int64(),
                                             state.at("batch_size").as_int64(), state.at("num_processes").as_int64());
    EXPECT_EQ(start.epoch, state.at("epoch").as_int64());
    EXPECT_EQ(start.sample, state.at("start_index").as_int64());
    LoaderOptions options = recorded_run();
    options.num_workers = 0;
    options.start = start;
    const Batch batch = DataLoader(dataset, options).next();
    EXPECT_EQ(batch.epoch, start.epoch);
    EXPECT_EQ(batch.starts_epoch, start.sample == 0);
    ++checked;
  }
  EXPECT_EQ(checked, 7u);
}

TEST(DataLoader, ResumesWithAnotherBatchSizeAtTheSampleThatComesNext) {
  LoaderOptions options = recorded_run();
  options.num_workers = 0;
  const auto dataset = open("pusht_keypoints");
  const std::vector<std::int64_t> order = EpisodeAwareSampler(dataset->episodes(), options.seed, 0, 0).epoch_order(0);
  options.start = position_after(20, dataset->num_frames(), options.batch_size);  // 160 samples were consumed
  options.batch_size = 3;
  DataLoader loader(dataset, options);
  const Batch first = loader.next();
  EXPECT_EQ(first.rows, std::vector<std::int64_t>(order.begin() + 160, order.begin() + 163));
  EXPECT_FALSE(first.starts_epoch);
  EXPECT_EQ(loader.next().rows, std::vector<std::int64_t>(order.begin() + 163, order.begin() + 166));
}

bool same_tensors(const Batch& a, const Batch& b) {
  if (a.rows != b.rows || a.tasks != b.tasks || a.tensors.size() != b.tensors.size()) return false;
  for (const auto& [key, tensor] : a.tensors) {
    const Buffer* other = b.tensors.find(key);
    if (other == nullptr || other->shape != tensor.shape) return false;
    if (std::memcmp(other->data.get(), tensor.data.get(), tensor.bytes()) != 0) return false;
  }
  return true;
}

TEST(DataLoader, GivesTheSameBatchesForAnyNumberOfWorkersPastTheFirstEpoch) {
  const auto dataset = open("pusht_sim_h264");
  LoaderOptions options = recorded_run();
  options.num_workers = 0;
  std::vector<Batch> expected;
  DataLoader alone(dataset, options);
  for (int i = 0; i < 70; ++i) expected.push_back(alone.next());
  ASSERT_EQ(alone.batches_per_epoch(), 64);
  EXPECT_EQ(expected[63].rows.size(), 4u) << "the last batch of an epoch is short";
  EXPECT_TRUE(expected[0].starts_epoch && expected[64].starts_epoch && !expected[63].starts_epoch);
  for (const std::int64_t workers : {1, 4, 8, 16}) {
    options.num_workers = workers;
    // Its own dataset: what one cached, another would not decode. Its first sample is read here, before the workers.
    const auto own = open("pusht_sim_h264");
    own->item(0);
    DataLoader loader(own, options);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(same_tensors(loader.next(), expected[i])) << workers << " workers, batch " << i;
    }
  }
}

}  // namespace
}  // namespace lerobot::data
