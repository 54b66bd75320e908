#include <algorithm>
#include <array>
#include <cmath>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/data/metadata.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

constexpr std::string_view kInfoPath = "meta/info.json";
constexpr std::string_view kDefaultDataPath = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet";
constexpr std::string_view kDefaultVideoPath = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4";
constexpr std::array<std::string_view, 14> kKnownKeys = {
    "codebase_version", "fps",       "features",   "total_episodes",        "total_frames",           "total_tasks",
    "chunks_size",      "data_path", "video_path", "data_files_size_in_mb", "video_files_size_in_mb", "robot_type",
    "splits",           "tools"};
constexpr std::array<std::string_view, 5> kDefaultFeatures = {"timestamp", "frame_index", "episode_index", "index",
                                                              "task_index"};

const bj::value* find_value(const bj::object& info, std::string_view key) {
  const bj::value* value = info.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const bj::value& require_value(const bj::object& info, std::string_view key) {
  const bj::value* value = find_value(info, key);
  if (value == nullptr) fail(ErrorKind::kData, "{}: \"{}\" is missing.", kInfoPath, key);
  return *value;
}

std::string text_or(const bj::object& info, std::string_view key, std::string_view fallback) {
  const bj::value* value = find_value(info, key);
  if (value == nullptr) return std::string(fallback);
  if (!value->is_string()) fail(ErrorKind::kData, "{}: \"{}\" is not a text.", kInfoPath, key);
  return std::string(value->get_string());
}

std::int64_t integer_or(const bj::object& info, std::string_view key, std::int64_t fallback) {
  const bj::value* value = find_value(info, key);
  if (value == nullptr) return fallback;
  if (!value->is_int64()) fail(ErrorKind::kData, "{}: \"{}\" is not a whole number.", kInfoPath, key);
  return value->get_int64();
}

/// v3.x is read; v2.1 is known but not read yet.
void check_version(const std::string& version) {
  const std::string number = version.starts_with('v') ? version.substr(1) : version;
  if (number.starts_with("3.") && number.size() > 2) return;
  if (number == "2.1") {
    fail(ErrorKind::kData,
         "{}: the dataset has layout version {}, and v3.0 is needed. Convert it: python -m "
         "lerobot.scripts.convert_dataset_v21_to_v30 --repo-id=...",
         kInfoPath, version);
  }
  fail(ErrorKind::kData, "{}: the dataset has layout version \"{}\", and v3.0 is needed.", kInfoPath, version);
}

double parse_fps(const bj::value& value) {
  const double fps = value.is_number() ? value.to_number<double>() : std::nan("");
  if (!(fps > 0) || !std::isfinite(fps)) {
    fail(ErrorKind::kData, "{}: \"fps\" is {}, needed a number above 0.", kInfoPath, json::write_line(value));
  }
  return fps;
}

void warn_about_unknown_keys(const bj::object& info) {
  std::vector<std::string> unknown;
  for (const auto& entry : info) {
    if (std::find(kKnownKeys.begin(), kKnownKeys.end(), std::string_view(entry.key())) == kKnownKeys.end()) {
      unknown.emplace_back(entry.key());
    }
  }
  if (!unknown.empty()) log::warn("{}: unknown keys are ignored: {}", kInfoPath, join(unknown, ", "));
}

}  // namespace

void DatasetMetadata::load_info() {
  const bj::value document = json::read_file(root_ / kInfoPath, ErrorKind::kData);
  if (!document.is_object()) fail(ErrorKind::kData, "{}: not an object.", kInfoPath);
  const bj::object& info = document.get_object();
  require_value(info, "codebase_version");
  version_ = text_or(info, "codebase_version", "");
  check_version(version_);
  fps_ = parse_fps(require_value(info, "fps"));
  robot_type_ = text_or(info, "robot_type", "");
  declared_episodes_ = integer_or(info, "total_episodes", -1);
  declared_frames_ = integer_or(info, "total_frames", -1);
  features_ = parse_features(require_value(info, "features"), kInfoPath);
  for (const std::string_view key : kDefaultFeatures) {
    const FeatureSpec* feature = features_.find(key);
    if (feature == nullptr || !feature->is_number() || feature->elements() != 1) {
      fail(ErrorKind::kData, "{}: feature {} is missing or is not one number per frame.", kInfoPath, key);
    }
  }
  for (const auto& [key, feature] : features_) {
    if (feature.is_video()) video_keys_.push_back(key);
    if (feature.is_image()) image_keys_.push_back(key);
  }
  data_path_ = PathTemplate(text_or(info, "data_path", kDefaultDataPath), "data_path");
  video_path_ = PathTemplate(text_or(info, "video_path", kDefaultVideoPath), "video_path");
  warn_about_unknown_keys(info);
}

}  // namespace lerobot::data
