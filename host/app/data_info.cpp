#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <iostream>
#include <set>

#include "host/app/data_commands.h"
#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/text.h"
#include "host/data/buffer.h"
#include "host/data/metadata.h"
#include "host/data/video_decoder.h"

namespace lerobot {
namespace {

namespace bj = boost::json;
namespace fs = std::filesystem;
using data::DatasetMetadata;
using data::FeatureSpec;

/// Of `info --json` (docs/datasets.md).
constexpr int kInfoSchema = 1;
constexpr std::array<std::string_view, 4> kShownStats = {"mean", "std", "min", "max"};

/// Files and bytes below a folder.
struct Size {
  std::int64_t files = 0, bytes = 0;
};

Size size_of(const fs::path& folder) {
  Size size;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; at != end && !error; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    ++size.files;
    size.bytes += static_cast<std::int64_t>(at->file_size(error));
  }
  return size;
}

bj::object json_of(const Size& size) {
  return {{"files", size.files}, {"bytes", size.bytes}};
}

std::string text_of(const Size& size) {
  const auto bytes = static_cast<double>(size.bytes);
  const std::string amount = bytes < 1e6 ? format("{:.0f} kB", bytes / 1e3) : format("{:.1f} MB", bytes / 1e6);
  return format("{} in {} {}", amount, size.files, size.files == 1 ? "file" : "files");
}

template <class Values>
bj::array list(const Values& values) {
  bj::array out;
  for (const auto& value : values) out.emplace_back(value);
  return out;
}

std::string numbers(const std::vector<double>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 8); ++i)
    parts.push_back(format("{:.4g}", values[i]));
  if (values.size() > parts.size()) parts.push_back(format("... ({})", values.size()));
  return join(parts, " ");
}

/// The first video file of a camera, as its header says it, or what is wrong with it.
bj::object video_json(const DatasetMetadata& metadata, std::size_t video) {
  std::set<std::string> files;
  for (const data::Episode& episode : metadata.episodes()) files.insert(metadata.video_path(episode, video));
  bj::object out{{"files", files.size()}};
  try {
    const data::VideoInfo info = data::probe_video(metadata.root(), *files.begin());
    out["codec"] = info.codec;
    out["width"] = info.width;
    out["height"] = info.height;
  } catch (const Error& error) {
    out["problem"] = error.what();
  }
  return out;
}

bj::object camera_json(const DatasetMetadata& metadata, const std::string& key) {
  const FeatureSpec& feature = *metadata.features().find(key);
  bj::object out{{"dtype", feature.dtype}, {"shape", list(feature.policy_shape())}, {"depth", feature.is_depth}};
  const auto& videos = metadata.video_keys();
  const auto video = std::ranges::find(videos, key);
  if (video != videos.end()) {
    out["video"] = video_json(metadata, static_cast<std::size_t>(video - videos.begin()));
  }
  return out;
}

bj::object stats_json(const DatasetMetadata& metadata) {
  bj::object out;
  for (const auto& [key, stats] : metadata.stats()) {
    bj::object& own = out[key].emplace_object();
    for (const auto& [name, stat] : stats) own[name] = list(stat.values);
  }
  return out;
}

/// Tasks by their index.
std::vector<std::pair<std::int64_t, std::string>> tasks_of(const DatasetMetadata& metadata) {
  std::vector<std::pair<std::int64_t, std::string>> tasks(metadata.tasks().begin(), metadata.tasks().end());
  std::ranges::sort(tasks);
  return tasks;
}

std::vector<std::int64_t> lengths_of(const DatasetMetadata& metadata) {
  std::vector<std::int64_t> lengths;
  for (const data::Episode& episode : metadata.episodes()) lengths.push_back(episode.length());
  std::ranges::sort(lengths);
  return lengths;
}

bj::object info_json(const DatasetMetadata& metadata) {
  const std::vector<std::int64_t> lengths = lengths_of(metadata);
  bj::object features, cameras, sizes;
  for (const auto& [key, feature] : metadata.features()) {
    features[key] =
        bj::object{{"dtype", feature.dtype}, {"shape", list(feature.item_shape())}, {"names", list(feature.names)}};
  }
  for (const std::string& key : metadata.camera_keys()) cameras[key] = camera_json(metadata, key);
  for (const char* folder : {"meta", "data", "videos"}) sizes[folder] = json_of(size_of(metadata.root() / folder));
  bj::array tasks;
  for (const auto& [index, text] : tasks_of(metadata)) {
    tasks.push_back(bj::object{{"task_index", index}, {"task", text}});
  }
  return {{"schema", kInfoSchema},
          {"root", metadata.root().string()},
          {"version", metadata.version()},
          {"robot_type", metadata.robot_type()},
          {"fps", metadata.fps()},
          {"episodes", metadata.episodes().size()},
          {"frames", metadata.total_frames()},
          {"episode_length",
           bj::object{{"least", lengths.front()}, {"median", lengths[lengths.size() / 2]}, {"most", lengths.back()}}},
          {"sizes", std::move(sizes)},
          {"tasks", std::move(tasks)},
          {"cameras", std::move(cameras)},
          {"features", std::move(features)},
          {"stats", stats_json(metadata)}};
}

std::string camera_text(const DatasetMetadata& metadata, const std::string& key) {
  const FeatureSpec& feature = *metadata.features().find(key);
  const std::vector<std::int64_t> shape = feature.policy_shape();
  std::string text = format("{}x{}, {} channels{}", shape[2], shape[1], shape[0], feature.is_depth ? ", depth" : "");
  const bj::object camera = camera_json(metadata, key);
  const bj::value* video = camera.if_contains("video");
  if (video == nullptr) return text + ", images in the data files";
  const bj::object& own = video->as_object();
  if (const bj::value* problem = own.if_contains("problem")) return text + ", " + std::string(problem->as_string());
  return text + format(", {} video in {} files", std::string_view(own.at("codec").as_string()),
                       own.at("files").to_number<std::int64_t>());
}

/// The columns that every dataset has, whose statistics say nothing.
bool is_counter(const std::string& key) {
  return key == "timestamp" || key == "index" || key.ends_with("_index");
}

void print_stats(const DatasetMetadata& metadata, const std::string& key) {
  const data::FeatureStats* stats = metadata.stats().find(key);
  if (stats == nullptr) {
    std::cout << "    no statistics\n";
    return;
  }
  for (const std::string_view name : kShownStats) {
    const data::Stat* stat = stats->find(name);
    std::cout << format("    {:<5} {}\n", name, stat == nullptr ? "missing" : numbers(stat->values));
  }
}

void print_text(const DatasetMetadata& metadata) {
  const std::vector<std::int64_t> lengths = lengths_of(metadata);
  const auto line = [](std::string_view name, const std::string& text) {
    std::cout << format("{:<10} {}\n", name, text);
  };
  line("dataset", metadata.root().string());
  line("version", metadata.version());
  line("robot", metadata.robot_type().empty() ? "not named" : metadata.robot_type());
  line("fps", json::float_repr(metadata.fps()));
  line("episodes", format("{}, of {} to {} frames, median {}", metadata.episodes().size(), lengths.front(),
                          lengths.back(), lengths[lengths.size() / 2]));
  line("frames",
       format("{} ({:.1f} s)", metadata.total_frames(), static_cast<double>(metadata.total_frames()) / metadata.fps()));
  for (const char* folder : {"data", "videos", "meta"}) line(folder, text_of(size_of(metadata.root() / folder)));
  std::cout << "tasks\n";
  for (const auto& [index, text] : tasks_of(metadata)) std::cout << format("  {:<4} {}\n", index, text);
  std::cout << "cameras\n";
  for (const std::string& key : metadata.camera_keys()) {
    std::cout << format("  {}: {}\n", key, camera_text(metadata, key));
  }
  std::cout << "features\n";
  for (const auto& [key, feature] : metadata.features()) {
    if (feature.is_camera()) continue;
    std::cout << format("  {}: {} {}", key, feature.dtype, data::shape_text(feature.item_shape()))
              << (feature.names.empty() ? "" : " " + join(feature.names, ", ")) << '\n';
    if (feature.is_number() && feature.dtype != "bool" && !is_counter(key)) print_stats(metadata, key);
  }
}

}  // namespace

int show_info(const DataCommand& command) {
  const DatasetMetadata metadata = DatasetMetadata::load(command.root);
  if (command.json) {
    std::cout << json::write(info_json(metadata)) << '\n';
  } else {
    print_text(metadata);
  }
  return 0;
}

}  // namespace lerobot
