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
constexpr std::string_view kVersionKey = "codebase_version";
constexpr std::int64_t kDefaultChunksSize = 1000;
// total_chunks and total_videos are v2.1's.
constexpr std::array<std::string_view, 16> kKnownKeys = {
    kVersionKey,    "fps",          "features",   "total_episodes", "total_frames",          "total_tasks",
    "chunks_size",  "data_path",    "video_path", "robot_type",     "data_files_size_in_mb", "video_files_size_in_mb",
    "total_chunks", "total_videos", "splits",     "tools"};
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

/// What to do about a version that is not read.
std::string_view cure_of(std::string_view number) {
  if (number == "2.0") return "Convert it with convert_dataset_v20_to_v21 of LeRobot 0.3, and it can be read.";
  if (number.starts_with("1.")) return "Convert it with the scripts of an older LeRobot, version after version.";
  if (number.empty()) return "Set it to the version that the files are in.";
  return "Fetch the dataset's revision v3.0, or use a newer trainer.";
}

/// Minor versions of 3 after 3.0 are read as LeRobot reads them: as 3.0.
const Layout& find_layout(const bj::object& info) {
  const std::string version = text_or(info, kVersionKey, "");
  const std::string number = version.starts_with('v') ? version.substr(1) : version;
  if (number == "2.1") return kLayoutV21;
  if (number.starts_with("3.") && number.size() > 2) return kLayoutV30;
  const std::string found = find_value(info, kVersionKey) == nullptr ? "missing" : "\"" + version + "\"";
  fail(ErrorKind::kData, "{}: codebase_version is {}, needed v3.0 or v2.1. {}", kInfoPath, found, cure_of(number));
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
  layout_ = &find_layout(info);
  version_ = text_or(info, kVersionKey, "");
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
  chunks_size_ = integer_or(info, "chunks_size", kDefaultChunksSize);
  if (chunks_size_ <= 0) {
    fail(ErrorKind::kData, "{}: \"chunks_size\" is {}, needed a number above 0.", kInfoPath, chunks_size_);
  }
  data_path_ = PathTemplate(text_or(info, "data_path", layout_->data_path), "data_path", layout_->fields);
  video_path_ = PathTemplate(text_or(info, "video_path", layout_->video_path), "video_path", layout_->fields);
  warn_about_unknown_keys(info);
}

}  // namespace lerobot::data
