#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lerobot::data {

/// A directory of a test, removed at its end.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct SyntheticEpisode {
  std::int64_t index = 0;
  std::int64_t length = 0;
  std::optional<std::int64_t> from =
      {};  ///< global number of its first frame; after the episode before it if not given
  double video_from = 0, video_to = 1e9;
  std::int64_t task = 0;
  std::int64_t chunk = 0, file = 0;  ///< where its rows and its part of each video are; v2.1 has files of its own
};

/// A feature of numbers beside the state.
struct SyntheticNumbers {
  std::string key;
  std::int64_t width = 1;  ///< numbers per row, as a list; info.json says the same
  std::function<float(const SyntheticEpisode&, std::int64_t frame, std::int64_t place)> value;
};

/// A camera beside `camera`: a video, or images in the data.
struct SyntheticCamera {
  std::string key;
  std::string info;  ///< its entry in info.json
  /// Makes the video file that holds these episodes.
  std::function<void(const std::filesystem::path& file, const std::vector<SyntheticEpisode>&)> write_video;
  std::function<std::vector<std::byte>(std::int64_t row)> image;
};

/// A small dataset written by the test: state [episode, frame] (2 floats) and the columns of v3.0; as v2.1 when the
/// version says so, with one file per episode, which is that of the episode's number.
struct SyntheticDataset {
  std::string version = "v3.0";
  double fps = 10;
  std::vector<SyntheticEpisode> episodes;   ///< rows of the data, in this order
  std::vector<std::size_t> metadata_order;  ///< of meta/episodes; as `episodes` if empty
  std::vector<std::pair<std::int64_t, std::string>> tasks = {{0, "push"}};
  std::string task_column = "task";
  std::int64_t total_episodes = -1;  ///< as info.json says; the true number if -1
  std::string state_shape = "[2]";   ///< as info.json says
  std::string camera;                ///< info.json's entry of observation.image, or empty for none
  std::filesystem::path video;       ///< mp4 to copy when the camera is a video
  std::function<std::vector<std::byte>(std::int64_t row)> image;  ///< bytes when the camera is an image
  std::function<double(const SyntheticEpisode&, std::int64_t frame)> timestamp;
  std::function<float(const SyntheticEpisode&, std::int64_t frame)> state;  ///< the second number instead of the frame
  std::vector<SyntheticNumbers> numbers;
  std::vector<SyntheticCamera> cameras;
  std::int64_t chunks_size = 1000;
  std::int64_t row_group_rows = 1 << 20;

  void write(const std::filesystem::path& root) const;
};

/// Three episodes of two frames, each with a task of its own: numbers with gaps and out of order, texts in several
/// scripts, with quotes and a line end.
SyntheticDataset three_tasks();

/// An encoded image file: FFmpeg's encoder and pixel format by name, interleaved pixels.
std::vector<std::byte> encode_image(const std::string& encoder, const std::string& pixel_format, int width, int height,
                                    const std::vector<std::uint8_t>& pixels);

/// The message of the Error(kData) that `run` throws; a test failure if it throws none.
std::string data_error_of(const std::function<void()>& run);

}  // namespace lerobot::data
