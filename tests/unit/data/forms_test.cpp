// What real datasets look like: many files, cameras of all kinds, odd rates, long videos.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>

#include "host/base/log.h"
#include "host/data/loader.h"
#include "host/data/preflight.h"
#include "host/data/video_decoder.h"
#include "tests/unit/data/synthetic_video.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Forms : public testing::Test {
 protected:
  DatasetOptions write(const SyntheticDataset& dataset) {
    dataset.write(directory_.path());
    return here();
  }
  DatasetOptions here() const {
    DatasetOptions options;
    options.root = directory_.path();
    return options;
  }

  TempDirectory directory_;
};

/// Each row's picture must be that of its episode and frame.
void expect_own_pictures(const Dataset& dataset, const std::string& camera) {
  for (const Episode& episode : dataset.episodes()) {
    for (std::int64_t frame = 0; frame < episode.length(); ++frame) {
      const auto picture = dataset.picture(camera, episode.first_row + frame);
      ASSERT_EQ(grey_level(*picture), grey_level_of(episode.index, frame))
          << camera << ", episode " << episode.index << ", frame " << frame;
    }
  }
}

std::vector<std::byte> grey_png(int width, int height, std::int64_t row) {
  return encode_image(
      "png", "gray", width, height,
      std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), static_cast<std::uint8_t>(row)));
}

TEST_F(Forms, ManyChunksAndFilesKeepEachEpisodeItsOwnFrames) {
  SyntheticDataset source;
  for (std::int64_t i = 0; i < 12; ++i) {
    SyntheticEpisode episode{i, 1 + i % 5};
    episode.chunk = i / 5;
    episode.file = i / 2 % 3;
    source.episodes.push_back(episode);
  }
  source.episodes = end_to_end(source.episodes, source.fps);
  source.cameras = {grey_camera("observation.image", 32, 32, 10)};
  DatasetOptions options = write(source);
  for (const std::vector<std::int64_t>& chosen : {std::vector<std::int64_t>{}, {3}, {1, 3}, {10, 4, 7}}) {
    options.episodes = chosen;
    const Dataset dataset(options);
    EXPECT_EQ(dataset.num_episodes(), chosen.empty() ? 12 : std::ssize(chosen));
    expect_own_pictures(dataset, "observation.image");
  }
}

TEST_F(Forms, VideosAndImagesOfDifferentSizesMayBeMixedAndNamesHaveDots) {
  SyntheticDataset source;
  source.episodes = end_to_end({{0, 6}, {1, 1}, {7, 4}}, source.fps);
  source.cameras = {grey_camera("observation.images.wrist.left", 64, 48, 10),
                    {"observation.images.top",
                     R"({"dtype": "image", "shape": [6, 10, 1], "names": ["height", "width", "channels"]})",
                     {},
                     [](std::int64_t row) { return grey_png(10, 6, row); }},
                    grey_camera("observation.images.front", 48, 64, 10)};
  source.numbers = {
      {"observation.joint.left.position", 1,
       [](const SyntheticEpisode&, std::int64_t frame, std::int64_t) { return static_cast<float>(frame); }}};
  const Dataset dataset(write(source));
  EXPECT_EQ(dataset.metadata().camera_keys(),
            (std::vector<std::string>{"observation.images.wrist.left", "observation.images.top",
                                      "observation.images.front"}));
  expect_own_pictures(dataset, "observation.images.wrist.left");
  expect_own_pictures(dataset, "observation.images.front");
  const auto shared = std::make_shared<const Dataset>(here());
  LoaderOptions loading;
  loading.batch_size = 11;
  DataLoader loader(shared, loading);
  const Batch batch = loader.next();
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(batch.tensors.find("observation.images.wrist.left")->shape, (Shape{11, 3, 48, 64}));
  EXPECT_EQ(batch.tensors.find("observation.images.front")->shape, (Shape{11, 3, 64, 48}));
  EXPECT_EQ(batch.tensors.find("observation.images.top")->shape, (Shape{11, 1, 6, 10}));
  for (std::size_t i = 0; i < 11; ++i) {
    EXPECT_EQ(elements_of<float>(*batch.tensors.find("observation.images.top"))[60 * i],
              static_cast<float>(batch.rows[i]) / 255);
  }
}

TEST_F(Forms, OddRatesFindTheirFrames) {
  struct Rate {
    double fps;
    int frames, seconds;
  };
  for (const Rate rate :
       {Rate{30000.0 / 1001, 30000, 1001}, {29.97, 2997, 100}, {7.5, 15, 2}, {12.5, 25, 2}, {1, 1, 1}}) {
    const TempDirectory directory;
    SyntheticDataset source;
    source.fps = rate.fps;
    source.episodes = end_to_end({{0, 40}, {1, 1}, {2, 25}}, rate.fps);
    SyntheticCamera camera = grey_camera("observation.image", 32, 32, 1);
    camera.write_video = [&](const fs::path& file, const std::vector<SyntheticEpisode>&) {
      GreyVideo video{.fps = rate.frames, .fps_divisor = rate.seconds, .frames = 66};
      video.level = [](std::int64_t frame) {
        return frame < 40 ? grey_level_of(0, frame) : frame < 41 ? grey_level_of(1, 0) : grey_level_of(2, frame - 41);
      };
      write_grey_video(file, video);
    };
    source.cameras = {camera};
    source.write(directory.path());
    DatasetOptions options;
    options.root = directory.path();
    expect_own_pictures(Dataset(options), "observation.image");
  }
}

/// At 2500 s float32 steps are 0.00024 s: a frame is found to 0.0001 s only in double precision.
TEST_F(Forms, LongVideosFindTheirFramesPastTwoThousandSeconds) {
  constexpr std::int64_t kLate = 75001;  // frames of 30 a second
  SyntheticDataset source;
  source.fps = 30;
  source.episodes = {{0, 20}, {1, 20}};
  source.episodes[0].video_to = 20 / 30.0;
  source.episodes[1].video_from = static_cast<double>(kLate) / 30;
  source.episodes[1].video_to = static_cast<double>(kLate + 20) / 30;
  SyntheticCamera camera = grey_camera("observation.image", 32, 32, 30);
  camera.write_video = [&](const fs::path& file, const std::vector<SyntheticEpisode>&) {
    GreyVideo video{.fps = 30, .frames = 40};
    video.level = [](std::int64_t frame) { return grey_level_of(frame / 20, frame % 20); };
    video.time = [&](std::int64_t frame) { return frame < 20 ? frame : kLate + frame - 20; };
    write_grey_video(file, video);
  };
  source.cameras = {camera};
  expect_own_pictures(Dataset(write(source)), "observation.image");
}

TEST_F(Forms, TimesPastTheVideosEndTakeTheLastFrameWithinTheToleranceOnly) {
  for (const auto& [frames_late, tolerance, found] :
       {std::tuple{0.2, 0.01, true}, {0.2, 1e-4, false}, {1.5, 0.01, false}}) {
    const TempDirectory directory;
    SyntheticDataset source;
    source.fps = 30;
    source.episodes = end_to_end({{0, 40}}, source.fps);
    source.cameras = {grey_camera("observation.image", 32, 32, 30)};
    const double late = frames_late / 30;
    source.timestamp = [late](const SyntheticEpisode&, std::int64_t frame) {
      return static_cast<double>(frame) / 30 + (frame == 39 ? late : 0);
    };
    source.write(directory.path());
    DatasetOptions options;
    options.root = directory.path();
    options.tolerance_s = tolerance;
    if (found) {
      EXPECT_EQ(grey_level(*Dataset(options).picture("observation.image", 39)), grey_level_of(0, 39));
    } else {
      EXPECT_THAT(data_error_of([&] { Dataset{options}; }),
                  AllOf(HasSubstr("episode 0 frame 39"), HasSubstr("--tolerance_s")));
    }
  }
}

TEST_F(Forms, VideosOfEveryUsualCodecAreDecoded) {
  const std::vector<std::tuple<std::string, std::string, std::string>> codecs = {
      {"libx264", "h264", "crf=10:preset=ultrafast"},
      {"libx265", "hevc", "crf=10:preset=ultrafast:x265-params=log-level=none"},
      {"libvpx-vp9", "vp9", "crf=10:deadline=realtime:cpu-used=8"},
      {"libsvtav1", "av1", "crf=10:preset=12"},
      {"mpeg4", "mpeg4", ""}};
  int decoded = 0;
#if defined(__SANITIZE_ADDRESS__)
  const std::string leaks = "libx265";  // the encoder, not the decoder under test
#else
  const std::string leaks;
#endif
  for (const auto& [encoder, codec, encoder_options] : codecs) {
    if (encoder == leaks) continue;
    const TempDirectory directory;
    SyntheticDataset source;
    source.episodes = end_to_end({{0, 12}}, source.fps);
    SyntheticCamera camera = grey_camera("observation.image", 96, 96, 10);
    bool written = false;
    camera.write_video = [&, &encoder = encoder, &encoder_options = encoder_options](
                             const fs::path& file, const std::vector<SyntheticEpisode>&) {
      GreyVideo video{.width = 96, .height = 96, .frames = 12, .encoder = encoder, .options = encoder_options};
      video.level = [](std::int64_t frame) { return grey_level_of(0, frame); };
      written = write_grey_video(file, video);
    };
    source.cameras = {camera};
    source.write(directory.path());
    if (!written) continue;  // this FFmpeg has no such encoder
    DatasetOptions options;
    options.root = directory.path();
    const Dataset dataset(options);
    EXPECT_EQ(probe_video(directory.path(), "videos/observation.image/chunk-000/file-000.mp4").codec, codec);
    expect_own_pictures(dataset, "observation.image");
    ++decoded;
  }
  EXPECT_GE(decoded, 1);
}

TEST_F(Forms, ContainersWithoutAHeaderWorthReadingAreDecoded) {
  for (const char* name : {"video.avi", "video.mkv", "video.ts"}) {
    GreyVideo video{.frames = 30};
    video.level = [](std::int64_t frame) { return grey_level_of(0, frame); };
    // AVI's header would hold a wrong length rather than none.
    const bool seekable = std::string_view(name).ends_with("avi");
    ASSERT_TRUE(write_grey_video(directory_.path() / name, video, seekable));
    EXPECT_NEAR(probe_video(directory_.path(), name).duration, 3, 0.11) << name;
    VideoDecoder decoder(directory_.path(), name);
    const double begin = decoder.nearest(0).seconds;  // a transport stream begins where its clock stands
    for (const std::int64_t frame : {20, 3, 29, 4, 0}) {
      const VideoFrame found = decoder.nearest(begin + static_cast<double>(frame) / 10);
      EXPECT_EQ(grey_level(found.pixels), grey_level_of(0, frame)) << name << ", frame " << frame;
    }
  }
}

/// Limits the files that this process may have open, for as long as it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t files) {
    getrlimit(RLIMIT_NOFILE, &old_);
    const rlimit limit{files, old_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &old_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit old_{};
};

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// Four hundred episodes, each with a video of its own, which are all one file.
SyntheticDataset four_hundred_videos(const TempDirectory& directory) {
  const fs::path one = directory.path() / "one.mp4";
  GreyVideo video{.frames = 5};
  video.level = [](std::int64_t frame) { return grey_level_of(0, frame); };
  write_grey_video(one, video);
  SyntheticDataset source;
  source.version = "v2.1";
  for (std::int64_t i = 0; i < 400; ++i) source.episodes.push_back({i, 5});
  SyntheticCamera camera = grey_camera("observation.image", 32, 32, 10);
  camera.write_video = [one](const fs::path& file, const auto&) { fs::create_hard_link(one, file); };
  source.cameras = {camera};
  return source;
}

TEST_F(Forms, FourHundredVideosNeedFewOpenFilesAtATime) {
  DatasetOptions options = write(four_hundred_videos(directory_));
  options.frame_cache_bytes = 0;
  const FileLimit limit(96);
  const std::size_t before = open_files();
  const auto dataset = std::make_shared<const Dataset>(options);
  LoaderOptions loading;
  loading.num_workers = 4;
  DataLoader loader(dataset, loading);
  for (int i = 0; i < 250; ++i) {
    const Batch batch = loader.next();
    ASSERT_EQ(batch.rows.size(), 8U);
    ASSERT_LE(open_files(), before + 32 + 4);
  }
}

TEST_F(Forms, DamagedVideosAmongManyAreListedAndTheirFilesClosed) {
  const DatasetOptions options = write(four_hundred_videos(directory_));
  for (int i = 9; i < 400; i += 10) {
    const std::string number = std::to_string(i);
    const fs::path file = directory_.path() / "videos/chunk-000/observation.image" /
                          ("episode_" + std::string(6 - number.size(), '0') + number + ".mp4");
    fs::remove(file);
    fs::copy_file(directory_.path() / "one.mp4", file);
    fs::resize_file(file, fs::file_size(file) / 2);
  }
  const FileLimit limit(96);
  const std::size_t before = open_files();
  const std::string message = data_error_of([&] { Dataset{options}; });
  EXPECT_THAT(message, AllOf(HasSubstr("episode_000009.mp4"), HasSubstr("episode_000399.mp4"),
                             Not(HasSubstr("episode_000010.mp4"))));
  EXPECT_EQ(open_files(), before);
}

TEST_F(Forms, ValuesThatAreNotFiniteAreCountedByColumnWhenOpened) {
  SyntheticDataset source;
  source.episodes = {{0, 20}, {4, 13}};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  source.state = [&](const SyntheticEpisode& episode, std::int64_t frame) {
    return episode.index == 0 && frame == 7 ? kNan : 0.5F;
  };
  source.numbers = {{"action", 2,
                     [&](const SyntheticEpisode& episode, std::int64_t frame, std::int64_t place) {
                       if (episode.index == 4 && frame >= 11 && place == 1) return frame == 11 ? -kInfinity : kNan;
                       return 1.0F;
                     }},
                    {"observation.fine", 1, [](const auto&, std::int64_t, std::int64_t) { return 3e38F; }}};
  const DatasetOptions options = write(source);
  testing::internal::CaptureStderr();
  const Dataset dataset(options);
  log::flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("action (1 NaN, 1 infinite, first in episode 4 frame 11)"),
                    HasSubstr("observation.state (1 NaN, 0 infinite, first in episode 0 frame 7)"),
                    HasSubstr("--dataset.exclude_episodes"), Not(HasSubstr("observation.fine"))));
  EXPECT_EQ(find_non_finite(dataset.table()).size(), 2U);
  DatasetOptions others = here();
  others.exclude_episodes = {{4}};
  EXPECT_EQ(find_non_finite(Dataset(others).table()).size(), 1U);
}

TEST_F(Forms, FramesOfWindowsStayInTheirEpisodeWhicheverAreChosen) {
  SyntheticDataset source;
  source.episodes = end_to_end({{0, 20}, {1, 13}, {2, 1}, {3, 30}}, source.fps);
  source.cameras = {grey_camera("observation.image", 32, 32, 10)};
  DatasetOptions options = write(source);
  options.delta_timestamps["observation.image"] = {-0.2, 0, 0.1};
  for (const std::vector<std::int64_t>& chosen : {std::vector<std::int64_t>{3}, {1, 3}, {3, 1}, {2, 0}}) {
    options.episodes = chosen;
    const Dataset dataset(options);
    for (const Episode& episode : dataset.episodes()) {
      for (std::int64_t frame = 0; frame < episode.length(); ++frame) {
        const Item item = dataset.item(episode.first_row + frame);
        const Buffer& window = *item.tensors.find("observation.image");
        const Buffer one{DType::kUInt8, {3, 32, 32}, nullptr};
        std::size_t at = 0;
        for (const std::int64_t delta : {-2, 0, 1}) {
          Buffer picture = make_buffer(DType::kUInt8, {3, 32, 32});
          std::copy_n(window.data.get() + at++ * one.bytes(), one.bytes(), picture.data.get());
          const std::int64_t expected = std::clamp<std::int64_t>(frame + delta, 0, episode.length() - 1);
          ASSERT_EQ(grey_level(picture), grey_level_of(episode.index, expected)) << episode.index << ", " << frame;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lerobot::data
