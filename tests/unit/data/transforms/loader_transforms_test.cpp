// Image transforms in the loader: the same for any number of workers and from any start, and only on colour cameras.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "host/base/error.h"
#include "host/data/loader.h"
#include "host/data/transforms/sample_transforms.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path kDatasets = LEROBOT_TEST_DATA "/datasets";

std::shared_ptr<const Dataset> open(const std::filesystem::path& root,
                                    const OrderedMap<std::vector<double>>& windows = {}) {
  DatasetOptions options;
  options.root = root;
  options.delta_timestamps = windows;
  return std::make_shared<const Dataset>(options);
}

/// Every transform at once.
std::shared_ptr<const ImageTransforms> all_transforms() {
  ImageTransformOptions options;
  const boost::json::array range{0.5, 1.5};
  options.max_num_transforms = 4;
  options.random_order = true;
  options.choices = {
      {"color",
       1,
       "ColorJitter",
       {{"brightness", range}, {"contrast", range}, {"saturation", range}, {"hue", boost::json::array{-0.1, 0.1}}}},
      {"sharpness", 1, "SharpnessJitter", {{"sharpness", range}}},
      {"affine", 2, "RandomAffine", {{"degrees", 10}, {"translate", boost::json::array{0.1, 0.1}}}},
      {"noise", 1, "GaussianNoise", {}}};
  return std::make_shared<const ImageTransforms>(options);
}

struct Loading {
  std::int64_t workers = 0, seed = 3, batch_size = 6;
  LoaderStart start = {};
  bool transformed = true;
};

/// The first tensors of a camera, batch after batch, as one text.
std::string frames_of(const std::shared_ptr<const Dataset>& dataset, const std::string& camera, const Loading& loading,
                      std::int64_t samples) {
  LoaderOptions options;
  options.num_workers = loading.workers;
  options.seed = loading.seed;
  options.batch_size = loading.batch_size;
  options.start = loading.start;
  if (loading.transformed) options.image_transforms = all_transforms();
  DataLoader loader(dataset, options);
  std::string bytes;
  while (samples > 0) {
    const Batch batch = loader.next();
    const Buffer& tensor = *batch.tensors.find(camera);
    bytes.append(reinterpret_cast<const char*>(tensor.data.get()), tensor.bytes());
    samples -= std::ssize(batch.rows);
  }
  return bytes;
}

TEST(LoaderTransforms, AreTheSameForAnyNumberOfWorkers) {
  for (const auto& [name, camera] :
       {std::pair{"pusht_sim_h264", "observation.image"}, {"pusht_image", "observation.image"}}) {
    const auto dataset = open(kDatasets / name);
    const std::string none = frames_of(dataset, camera, {}, 60);
    EXPECT_TRUE(none == frames_of(dataset, camera, {.workers = 1}, 60)) << name;
    EXPECT_TRUE(none == frames_of(dataset, camera, {.workers = 4}, 60)) << name;
    EXPECT_FALSE(none == frames_of(dataset, camera, {.transformed = false}, 60)) << name;
    EXPECT_FALSE(none == frames_of(dataset, camera, {.seed = 4}, 60)) << name;
  }
}

TEST(LoaderTransforms, GoOnExactlyAfterAResumeAlsoInALaterEpochAndWithAnotherBatchSize) {
  const auto dataset = open(kDatasets / "pusht_image");
  const std::int64_t size = dataset->num_frames();
  const auto frames = [&](const Loading& loading, std::int64_t samples) {
    return frames_of(dataset, "observation.image", loading, samples);
  };
  const std::size_t frame = std::size_t{3} * 96 * 96 * sizeof(float);
  const std::string straight = frames({.batch_size = 5}, size + 30);
  const std::string resumed = frames({.workers = 2, .batch_size = 10, .start = {.epoch = 0, .sample = 20}}, 40);
  EXPECT_EQ(straight.compare(20 * frame, resumed.size(), resumed), 0);
  const std::string later = frames({.start = {.epoch = 1, .sample = 10}}, 12);
  EXPECT_EQ(straight.compare((static_cast<std::size_t>(size) + 10) * frame, later.size(), later), 0);
}

TEST(LoaderTransforms, DrawAnewInEachEpochAndLeaveTheCacheAlone) {
  const auto dataset = open(kDatasets / "pusht_image");
  const Item before = dataset->item(0);
  LoaderOptions options;
  options.num_workers = 0;
  options.batch_size = dataset->num_frames();
  options.image_transforms = all_transforms();
  DataLoader loader(dataset, options);
  const auto frame_of_row_0 = [](const Batch& batch) {
    const auto slot = static_cast<std::size_t>(std::ranges::find(batch.rows, 0) - batch.rows.begin());
    const std::size_t bytes = std::size_t{3} * 96 * 96 * 4;
    return std::string(
        reinterpret_cast<const char*>(batch.tensors.find("observation.image")->data.get()) + slot * bytes, bytes);
  };
  EXPECT_NE(frame_of_row_0(loader.next()), frame_of_row_0(loader.next()));
  const Item after = dataset->item(0);
  const Buffer& own = *before.tensors.find("observation.image");
  EXPECT_EQ(std::memcmp(own.data.get(), after.tensors.find("observation.image")->data.get(), own.bytes()), 0);
}

TEST(LoaderTransforms, TreatTheFramesOfAWindowAlike) {
  // A window that shows one frame twice: rows are clamped to the episode.
  const auto dataset = open(kDatasets / "pusht_sim_h264", {{"observation.image", {-0.1, 0.0}}});
  LoaderOptions options;
  options.num_workers = 0;
  options.batch_size = 1;
  options.rows = {{0}};
  options.image_transforms = all_transforms();
  const Batch batch = DataLoader(dataset, options).next();
  const Buffer& tensor = *batch.tensors.find("observation.image");
  ASSERT_EQ(tensor.shape, (std::vector<std::int64_t>{1, 2, 3, 96, 96}));
  EXPECT_EQ(std::memcmp(tensor.data.get(), tensor.data.get() + tensor.bytes() / 2, tensor.bytes() / 2), 0);
}

std::shared_ptr<const Dataset> with_camera(const TempDirectory& directory, const std::string& more, int channels) {
  SyntheticDataset source;
  source.camera = R"({"dtype": "image", "shape": [8, 8, )" + std::to_string(channels) +
                  R"(], "names": ["height", "width", "channels"])" + more + "}";
  source.episodes = {{0, 4}};
  const std::string format = channels == 1 ? "gray" : "rgba";
  source.image = [=](std::int64_t) {
    return encode_image("png", format, 8, 8, std::vector<std::uint8_t>(static_cast<std::size_t>(64 * channels), 100));
  };
  source.write(directory.path());
  return open(directory.path());
}

TEST(LoaderTransforms, LeaveDepthCamerasAlone) {
  const TempDirectory grey, depth;
  const auto camera = with_camera(grey, "", 1);
  const auto map = with_camera(depth, R"(, "info": {"is_depth_map": true})", 1);
  const std::string untouched = frames_of(camera, "observation.image", {.transformed = false}, 4);
  EXPECT_NE(frames_of(camera, "observation.image", {}, 4), untouched);
  EXPECT_EQ(frames_of(map, "observation.image", {}, 4), untouched);
}

TEST(LoaderTransforms, RefuseCamerasWithFourChannels) {
  const TempDirectory directory;
  const auto dataset = with_camera(directory, "", 4);
  EXPECT_THAT(data_error_of([&] { frames_of(dataset, "observation.image", {}, 1); }),
              AllOf(HasSubstr("camera observation.image has 4 channels"), HasSubstr("need 1 or 3")));
}

}  // namespace
}  // namespace lerobot::data
