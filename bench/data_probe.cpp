// What bench/loader and bench/open measure of the data room, one JSON line a run; peer_probe.py does the same in
// Python.
//   data_probe open ROOT      opens a dataset as ACT does and reads its first sample
//   data_probe video FILE     what the video's header says
//   data_probe decode FILE    decodes the seconds on standard input, one request a line
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/dataset.h"
#include "host/data/video_decoder.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;
using boost::json::object;

constexpr std::int64_t kChunkSize = 100;  // ACT's actions per sample

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Memory of this process that is in use now, shared libraries and mapped files included.
double resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident_pages = 0;
  file >> size >> resident_pages;
  return static_cast<double>(resident_pages) * 4096 / (1 << 20);
}

object open_dataset(const fs::path& root) {
  const double before = resident_mib();
  const auto begin = std::chrono::steady_clock::now();
  DatasetOptions options;
  options.root = root;
  options.metadata = std::make_shared<const DatasetMetadata>(DatasetMetadata::load(root));
  for (std::int64_t i = 0; i < kChunkSize; ++i) {
    options.delta_timestamps["action"].push_back(static_cast<double>(i) / options.metadata->fps());
  }
  const Dataset dataset(options);
  dataset.item(0);
  const double seconds = seconds_since(begin);
  return {{"seconds", seconds}, {"growth_mib", resident_mib() - before}, {"frames", dataset.num_frames()}};
}

object describe_video(const fs::path& path) {
  const VideoInfo info = probe_video(path.parent_path(), path.filename().string());
  return {{"codec", info.codec}, {"width", info.width}, {"height", info.height}, {"duration", info.duration}};
}

std::vector<std::vector<double>> read_requests(std::istream& in) {
  std::vector<std::vector<double>> requests;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    requests.emplace_back();
    for (double seconds = 0; words >> seconds;) requests.back().push_back(seconds);
  }
  return requests;
}

double mean(const VideoFrame& frame) {
  const std::span pixels(elements_of<std::uint8_t>(frame.pixels), frame.pixels.bytes());
  return std::accumulate(pixels.begin(), pixels.end(), 0.0) / static_cast<double>(pixels.size());
}

object decode(const fs::path& path) {
  const auto requests = read_requests(std::cin);
  VideoDecoder decoder(path.parent_path(), path.filename().string());
  // Not timed: the first frame, and what shows that both sides decode the same.
  decoder.nearest(0);
  const double brightness = mean(decoder.nearest(requests.at(0).at(0)));
  std::int64_t frames = 0;
  const std::clock_t begin = std::clock();
  for (const auto& request : requests) {
    for (const double seconds : request) decoder.nearest(seconds);
    frames += static_cast<std::int64_t>(request.size());
  }
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return {{"cpu_s", cpu_s}, {"frames", frames}, {"brightness", brightness}, {"decoder", "ours"}};
}

object run(const std::string& what, const fs::path& path) {
  if (what == "open") return open_dataset(path);
  if (what == "video") return describe_video(path);
  if (what == "decode") return decode(path);
  fail(ErrorKind::kUsage, "data_probe {}: needed open, video or decode, and a path", what);
}

}  // namespace
}  // namespace lerobot::data

int main(int argc, char** argv) {
  try {
    const auto result = lerobot::data::run(argc == 3 ? argv[1] : "", argc == 3 ? argv[2] : "");
    std::cout << lerobot::json::write_line(result) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "data_probe: " << error.what() << '\n';
    return 1;
  }
}
