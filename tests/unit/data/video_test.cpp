#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "host/data/dataset.h"
#include "host/data/decoder_pool.h"
#include "host/data/ffmpeg.h"
#include "host/data/loader.h"
#include "host/data/video_decoder.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const fs::path kDatasets = fs::path(LEROBOT_TEST_DATA) / "datasets";
const std::string kH264 = "pusht_sim_h264/videos/observation.image/chunk-000/file-000.mp4";
const std::string kAv1 = "pusht_sim/videos/observation.image/chunk-000/file-000.mp4";
constexpr std::size_t kFrames = 60;  ///< looked at, of 10 a second

bool same(const Buffer& a, const Buffer& b) {
  return a.shape == b.shape && std::memcmp(a.data.get(), b.data.get(), a.bytes()) == 0;
}

TEST(VideoDecoder, GivesTheSameFramesInAnyOrder) {
  for (const std::string& file : {kH264, kAv1}) {
    VideoDecoder forward(kDatasets, file);
    std::vector<Buffer> frames;
    for (std::size_t i = 0; i < kFrames; ++i) {
      VideoFrame frame = forward.nearest(static_cast<double>(i) / 10);
      EXPECT_NEAR(frame.seconds, static_cast<double>(i) / 10, 1e-6);
      frames.push_back(std::move(frame.pixels));
    }
    EXPECT_FALSE(same(frames[0], frames[kFrames - 1]));
    std::vector<std::size_t> order(kFrames * 4);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % kFrames;
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    VideoDecoder random(kDatasets, file);
    for (const std::size_t i : order) {
      ASSERT_TRUE(same(random.nearest(static_cast<double>(i) / 10).pixels, frames[i])) << file << " frame " << i;
    }
  }
}

TEST(VideoDecoder, DecodesEachFrameOnceWhenTheyAreAskedForInOrder) {
  for (const std::string& file : {kH264, kAv1}) {
    VideoDecoder decoder(kDatasets, file);
    for (std::size_t i = 0; i < kFrames; ++i) decoder.nearest(static_cast<double>(i) / 10);
    // H.264 has two frames more: the decoder holds back one, and the first call cannot know that a run begins.
    EXPECT_LE(decoder.packets(), static_cast<std::int64_t>(kFrames) + 2) << file;
  }
}

TEST(VideoDecoder, DecodesAfterAJumpNoMoreThanFromTheKeyFrameToTheFrame) {
  for (const std::string& file : {kH264, kAv1}) {
    VideoDecoder decoder(kDatasets, file);
    std::int64_t before = 0;
    for (const std::size_t i : {31U, 10U, 45U, 5U, 24U, 57U, 0U, 38U}) {
      decoder.nearest(static_cast<double>(i) / 10);
      // Every second frame is a key frame.
      EXPECT_EQ(decoder.packets() - before, 1 + static_cast<std::int64_t>(i % 2)) << file << " frame " << i;
      before = decoder.packets();
    }
  }
}

TEST(VideoDecoder, UsesMemoryOfThePoolAgain) {
  VideoDecoder decoder(kDatasets, kH264);
  BufferPool pool(1 << 20);
  const std::byte* first = decoder.nearest(1, pool).pixels.data.get();
  const VideoFrame second = decoder.nearest(2, pool);
  EXPECT_EQ(second.pixels.data.get(), first);
  EXPECT_NE(decoder.nearest(1, pool).pixels.data.get(), first) << "it is still in use";
}

TEST(VideoDecoder, ChoosesTheNearestFrameByItsTime) {
  VideoDecoder decoder(kDatasets, kH264);
  const double last = probe_video(kDatasets, kH264).duration - 0.1;
  EXPECT_NEAR(decoder.nearest(1.04).seconds, 1.0, 1e-6);
  EXPECT_NEAR(decoder.nearest(1.06).seconds, 1.1, 1e-6);
  EXPECT_NEAR(decoder.nearest(0.949).seconds, 0.9, 1e-6);
  EXPECT_NEAR(decoder.nearest(-5).seconds, 0, 1e-6);
  EXPECT_NEAR(decoder.nearest(last + 0.15).seconds, last, 1e-6);
  EXPECT_NEAR(decoder.nearest(last + 100).seconds, last, 1e-6);
  EXPECT_NEAR(decoder.nearest(last).seconds, last, 1e-6);
  EXPECT_NEAR(decoder.nearest(0).seconds, 0, 1e-6);
}

TEST(VideoDecoder, TellsWhatTheHeaderSays) {
  const VideoInfo info = probe_video(kDatasets, kAv1);
  EXPECT_EQ(info.codec, "av1");
  EXPECT_EQ(info.width, 96);
  EXPECT_EQ(info.height, 96);
  EXPECT_NEAR(info.duration, 127, 0.05);
}

/// Writes the packets of a video into another container, to an output that cannot go back to fill in its header.
void remux_to_pipe(const fs::path& from, const fs::path& to) {
  AVFormatContext* opened = nullptr;
  ASSERT_GE(avformat_open_input(&opened, from.c_str(), nullptr, nullptr), 0);
  const FfmpegPtr<AVFormatContext> input(opened);
  AVFormatContext* output = nullptr;
  ASSERT_GE(avformat_alloc_output_context2(&output, nullptr, nullptr, to.c_str()), 0);
  ASSERT_GE(avio_open(&output->pb, to.c_str(), AVIO_FLAG_WRITE), 0);
  output->pb->seekable = 0;
  AVStream* stream = avformat_new_stream(output, nullptr);
  ASSERT_GE(avcodec_parameters_copy(stream->codecpar, input->streams[0]->codecpar), 0);
  stream->codecpar->codec_tag = 0;
  stream->time_base = input->streams[0]->time_base;
  ASSERT_GE(avformat_write_header(output, nullptr), 0);
  const FfmpegPtr<AVPacket> packet(av_packet_alloc());
  while (av_read_frame(input.get(), packet.get()) >= 0) {
    av_packet_rescale_ts(packet.get(), input->streams[0]->time_base, stream->time_base);
    ASSERT_GE(av_interleaved_write_frame(output, packet.get()), 0);
  }
  ASSERT_GE(av_write_trailer(output), 0);
  avio_closep(&output->pb);
  avformat_free_context(output);
}

TEST(VideoDecoder, ReadsContainersWhoseHeaderHasNoDurationAndNoIndex) {
  const TempDirectory directory;
  remux_to_pipe(kDatasets / kH264, directory.path() / "video.mkv");
  EXPECT_NEAR(probe_video(directory.path(), "video.mkv").duration, probe_video(kDatasets, kH264).duration, 0.01);
  VideoDecoder original(kDatasets, kH264);
  VideoDecoder remuxed(directory.path(), "video.mkv");
  for (const double seconds : {3.0, 0.2, 5.1, 5.2, 1.7, 20.0, 0.0}) {
    const VideoFrame frame = remuxed.nearest(seconds);
    EXPECT_NEAR(frame.seconds, seconds, 1e-3);
    EXPECT_TRUE(same(frame.pixels, original.nearest(seconds).pixels)) << seconds;
  }
}

std::size_t entries_of(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}
std::size_t open_files() {
  return entries_of("/proc/self/fd");
}

TEST(DecoderPool, KeepsALimitedNumberOfFilesOpen) {
  const TempDirectory directory;
  for (int i = 0; i < 100; ++i) {
    const fs::path file = directory.path() / (std::to_string(i) + ".mp4");
    if (i % 10 == 9) {
      fs::copy_file(kDatasets / kH264, file);
      fs::resize_file(file, 5000);
    } else {
      fs::create_symlink(kDatasets / kH264, file);
    }
  }
  DecoderPool pool(directory.path());
  const std::size_t before = open_files();
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t file = random() % 100;
    const auto read = [&] { return pool.nearest(std::to_string(file) + ".mp4", 0.5); };
    if (file % 10 == 9) {
      EXPECT_THAT(data_error_of(read), HasSubstr(std::to_string(file) + ".mp4"));
    } else {
      EXPECT_NEAR(read().seconds, 0.5, 1e-6);
    }
    ASSERT_LE(open_files(), before + DecoderPool::kMaxIdle);
  }
}

/// Forty frames that are the first of a file of 10 frames a second.
SyntheticDataset forty_frames() {
  SyntheticDataset dataset;
  dataset.camera = R"({"dtype": "video", "shape": [96, 96, 3], "names": ["height", "width", "channels"]})";
  dataset.video = kDatasets / kH264;
  dataset.episodes = {{0, 40}};
  dataset.episodes[0].video_to = 4;
  return dataset;
}

class VideoDataset : public testing::Test {
 protected:
  DatasetOptions write(const SyntheticDataset& dataset) {
    dataset.write(directory_.path());
    DatasetOptions options;
    options.root = directory_.path();
    return options;
  }

  TempDirectory directory_;
};

TEST_F(VideoDataset, WhoseRateDriftsNeedsAToleranceAndNeverLeavesTheFile) {
  SyntheticDataset source = forty_frames();
  source.fps = 9.9;
  DatasetOptions options = write(source);
  const Dataset strict(options);
  EXPECT_THAT(data_error_of([&] { strict.item(39); }),
              AllOf(HasSubstr("videos/observation.image/chunk-000/file-000.mp4"), HasSubstr("episode 0"),
                    HasSubstr("observation.image"), HasSubstr("3.9"), HasSubstr("--tolerance_s")));
  options.tolerance_s = 0.05;
  const Dataset tolerant(options);
  VideoDecoder decoder(kDatasets, kH264);
  const Item item = tolerant.item(39);
  EXPECT_TRUE(same(*item.tensors.find("observation.image"), decoder.nearest(3.9).pixels));
}

TEST_F(VideoDataset, WhoseSpansDoNotFitTheFilesIsRefusedWithAllOfThem) {
  SyntheticDataset source = forty_frames();
  source.episodes = {{0, 40}, {1, 40}, {2, 40}};
  source.episodes[0].video_to = 3.5 - 0.01;
  source.episodes[1].video_from = 104;
  source.episodes[1].video_to = 108;
  source.episodes[2].video_from = 4;
  source.episodes[2].video_to = 8;
  const std::string message = data_error_of([&] { Dataset{write(source)}; });
  EXPECT_THAT(message, AllOf(HasSubstr("episode 0"), HasSubstr("episode 1"), HasSubstr("104"),
                             HasSubstr("chunk-000/file-000.mp4")));
  EXPECT_EQ(message.find("episode 2"), std::string::npos);
}

TEST_F(VideoDataset, OfDepthIsRefused) {
  SyntheticDataset source = forty_frames();
  source.camera = R"({"dtype": "video", "shape": [96, 96, 1], "names": ["height", "width", "channels"],
                      "info": {"is_depth_map": true}})";
  EXPECT_THAT(data_error_of([&] { Dataset{write(source)}; }), HasSubstr("observation.image is a depth video"));
}

TEST_F(VideoDataset, GivesFramesOfItsOwnEpisodeAtItsOwnStart) {
  SyntheticDataset source = forty_frames();
  source.episodes = {{0, 20}, {1, 20}};
  source.episodes[0].video_from = 3;
  source.episodes[0].video_to = 5;
  source.episodes[1].video_from = 1;
  source.episodes[1].video_to = 3;
  DatasetOptions options = write(source);
  options.delta_timestamps["observation.image"] = {-0.1, 0};
  const Dataset dataset(options);
  VideoDecoder decoder(kDatasets, kH264);
  for (const auto& [row, first, second] : {std::tuple{0, 3.0, 3.0}, {19, 4.8, 4.9}, {20, 1.0, 1.0}, {21, 1.0, 1.1}}) {
    const Item item = dataset.item(row);
    const Buffer& found = *item.tensors.find("observation.image");
    ASSERT_EQ(found.shape, (std::vector<std::int64_t>{2, 3, 96, 96}));
    const Buffer a = decoder.nearest(first).pixels, b = decoder.nearest(second).pixels;
    EXPECT_EQ(std::memcmp(found.data.get(), a.data.get(), a.bytes()), 0) << row;
    EXPECT_EQ(std::memcmp(found.data.get() + a.bytes(), b.data.get(), b.bytes()), 0) << row;
  }
}

std::size_t threads() {
  return entries_of("/proc/self/task");
}

/// What malloc has given out and not got back. The process' resident memory moves by megabytes besides, as threads'
/// heaps fill unevenly. Always 0 under the address sanitizer, which looks for leaks itself.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Videos, AThousandFilesLeaveNoHandleNoThreadAndNoDecoder) {
  const TempDirectory directory;
  SyntheticDataset source;
  source.version = "v2.1";  // a file for each episode
  source.cameras = {
      {.key = "observation.image",
       .info = R"({"dtype": "video", "shape": [96, 96, 3], "names": ["height", "width", "channels"]})",
       .write_video = [](const fs::path& file,
                         const std::vector<SyntheticEpisode>&) { fs::create_symlink(kDatasets / kH264, file); },
       .image = {}}};
  for (std::int64_t i = 0; i < 1000; ++i) source.episodes.push_back({.index = i, .length = 1});
  source.write(directory.path());
  const std::size_t files_before = open_files();
  const std::size_t threads_before = threads();
  {
    DatasetOptions options;
    options.root = directory.path();
    options.frame_cache_bytes = 0;
    const auto dataset = std::make_shared<const Dataset>(options);
    LoaderOptions loading;
    loading.num_workers = 2;
    loading.prefetch_factor = 1;
    DataLoader loader(dataset, loading);
    std::size_t most_files = 0;
    std::size_t early = 0;
    for (int batch = 0; batch < 125; ++batch) {
      ASSERT_EQ(loader.next().rows.size(), 8U);
      most_files = std::max(most_files, open_files());
      if (batch == 60) early = bytes_in_use();
    }
    EXPECT_LE(most_files, files_before + DecoderPool::kMaxIdle + 4);
    EXPECT_LE(bytes_in_use(), early + 4096 * 1024) << "after 500 videos: " << early;
  }
  EXPECT_EQ(open_files(), files_before);
  EXPECT_EQ(threads(), threads_before);
}

}  // namespace
}  // namespace lerobot::data
