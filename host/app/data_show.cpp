#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>
#include <iostream>

#include "host/app/data_commands.h"
#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/data/dataset.h"
#include "host/data/png_file.h"

namespace lerobot {
namespace {

namespace bj = boost::json;
namespace fs = std::filesystem;
using data::Buffer;
using data::Picture;

/// Of `show --json` (docs/datasets.md).
constexpr int kShowSchema = 1;
/// Pixels between two frames, and how bright they are.
constexpr std::int64_t kGap = 4;
constexpr std::uint8_t kGapGrey = 64;

const data::Episode& find_episode(const data::DatasetMetadata& metadata, const ShowOptions& options) {
  for (const data::Episode& episode : metadata.episodes()) {
    if (options.episode ? episode.index == *options.episode
                        : options.frame >= episode.from && options.frame < episode.to) {
      return episode;
    }
  }
  if (options.episode) {
    fail(ErrorKind::kUsage, "episode {}: the dataset does not have it; it has {} episodes.", *options.episode,
         metadata.episodes().size());
  }
  fail(ErrorKind::kUsage, "frame {}: no episode has it; the dataset has {} frames.", options.frame,
       metadata.total_frames());
}

/// The number of the frame within its episode.
std::int64_t frame_in(const data::Episode& episode, const ShowOptions& options) {
  const std::int64_t frame = options.episode ? options.frame : options.frame - episode.from;
  if (frame >= 0 && frame < episode.length()) return frame;
  fail(ErrorKind::kUsage, "frame {}: episode {} has {} frames.", options.frame, episode.index, episode.length());
}

/// Only the one episode, with windows of the cameras.
data::DatasetOptions options_for(const std::shared_ptr<const data::DatasetMetadata>& metadata,
                                 const data::Episode& episode, const ShowOptions& options) {
  data::DatasetOptions out;
  out.root = metadata->root();
  out.metadata = metadata;
  out.episodes = {{episode.index}};
  for (const std::string& camera : metadata->camera_keys()) {
    for (std::int64_t frame = options.first; frame <= options.last; ++frame) {
      out.delta_timestamps[camera].push_back(static_cast<double>(frame) / metadata->fps());
    }
  }
  return out;
}

/// Brightness 0 to 255 of one number of a camera: bytes as they are, [0, 1] stretched, 16-bit grey relative to `most`.
std::uint8_t level(const Buffer& frames, std::int64_t at, float most) {
  if (frames.dtype == DType::kUInt8) return data::elements_of<std::uint8_t>(frames)[at];
  const float value = data::elements_of<float>(frames)[at] / most * 255.0F;
  return static_cast<std::uint8_t>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
}

float brightest(const Buffer& frames) {
  if (frames.dtype == DType::kUInt8) return 255;
  const auto* values = data::elements_of<float>(frames);
  return std::max(1.0F, *std::max_element(values, values + frames.elements()));
}

/// Frames side by side below each other, a row for each camera.
class Strip {
 public:
  explicit Strip(const data::Item& item, const std::vector<std::string>& cameras) {
    for (const std::string& camera : cameras) {
      const Buffer& frames = *item.tensors.find(camera);
      picture_.width = std::max(picture_.width, frames.shape[0] * (frames.shape[3] + kGap) - kGap);
      picture_.height += frames.shape[2] + kGap;
    }
    picture_.height -= kGap;
    picture_.pixels.assign(static_cast<std::size_t>(picture_.width * picture_.height * 3), kGapGrey);
    for (const std::string& camera : cameras) add(*item.tensors.find(camera), *item.tensors.find(camera + "_is_pad"));
  }

  const Picture& picture() const { return picture_; }

 private:
  /// Frames beyond the episode, which repeat its first or last, are drawn half as bright.
  void add(const Buffer& frames, const Buffer& is_pad) {
    const float most = brightest(frames);
    for (std::int64_t i = 0; i < frames.shape[0]; ++i) {
      add_frame(frames, i, most, data::elements_of<bool>(is_pad)[i] ? 2 : 1);
    }
    top_ += frames.shape[2] + kGap;
  }

  void add_frame(const Buffer& frames, std::int64_t i, float most, std::uint8_t divisor) {
    const std::int64_t channels = frames.shape[1], height = frames.shape[2], width = frames.shape[3];
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        auto* pixel =
            &picture_.pixels[static_cast<std::size_t>(((top_ + y) * picture_.width + i * (width + kGap) + x) * 3)];
        for (std::int64_t c = 0; c < 3; ++c) {
          const std::int64_t channel = channels >= 3 ? c : 0;
          const std::int64_t at = ((i * channels + channel) * height + y) * width + x;
          pixel[c] = static_cast<std::uint8_t>(level(frames, at, most) / divisor);
        }
      }
    }
  }

  Picture picture_;
  std::int64_t top_ = 0;
};

bj::value number_at(const Buffer& values, std::int64_t i) {
  switch (values.dtype) {
    case DType::kBool:
      return data::elements_of<bool>(values)[i];
    case DType::kInt64:
      return data::elements_of<std::int64_t>(values)[i];
    default:
      return static_cast<double>(data::elements_of<float>(values)[i]);
  }
}

std::string text_of(const bj::value& value) {
  return value.is_double() ? format("{:.6g}", value.get_double()) : json::write_line(value);
}

/// Numbers by feature, flattened.
OrderedMap<std::vector<bj::value>> numbers_of(const data::Item& item, const data::DatasetMetadata& metadata) {
  OrderedMap<std::vector<bj::value>> out;
  for (const auto& [key, values] : item.tensors) {
    const data::FeatureSpec* feature = metadata.features().find(key);
    if (feature == nullptr || !feature->is_number()) continue;
    for (std::int64_t i = 0; i < values.elements(); ++i) out[key].push_back(number_at(values, i));
  }
  return out;
}

void print_text(const data::Dataset& dataset, const data::Item& item, std::int64_t row, const std::string& picture) {
  const data::DatasetMetadata& metadata = dataset.metadata();
  std::cout << format("{}, {}\n", metadata.root().string(), dataset.row_name(row).substr(4));
  for (const auto& [key, text] : item.strings) std::cout << format("  {}: {}\n", key, text);
  for (const auto& [key, values] : numbers_of(item, metadata)) {
    const std::vector<std::string>& names = metadata.features().find(key)->names;
    std::cout << "  " << key << ':';
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::cout << ' ' << (names.size() == values.size() ? names[i] + "=" : "") << text_of(values[i]);
    }
    std::cout << '\n';
  }
  if (!picture.empty()) std::cout << "picture: " << picture << '\n';
}

void print_json(const data::Dataset& dataset, const data::Item& item, const data::Episode& episode, std::int64_t frame,
                const std::string& picture) {
  bj::object numbers, texts;
  for (auto& [key, values] : numbers_of(item, dataset.metadata()))
    numbers[key] = bj::array(values.begin(), values.end());
  for (const auto& [key, text] : item.strings) texts[key] = text;
  const bj::object out{{"schema", kShowSchema},
                       {"root", dataset.metadata().root().string()},
                       {"index", episode.from + frame},
                       {"episode", episode.index},
                       {"frame", frame},
                       {"texts", std::move(texts)},
                       {"numbers", std::move(numbers)},
                       {"picture", picture.empty() ? bj::value(nullptr) : bj::value(picture)}};
  std::cout << json::write(out) << '\n';
}

}  // namespace

int show_item(const DataCommand& command, const ShowOptions& options) {
  const auto metadata = std::make_shared<const data::DatasetMetadata>(data::DatasetMetadata::load(command.root));
  const data::Episode& episode = find_episode(*metadata, options);
  const std::int64_t frame = frame_in(episode, options);
  const data::Dataset dataset(options_for(metadata, episode, options));
  const data::Item item = dataset.item(frame);
  std::string picture;
  if (!metadata->camera_keys().empty()) {
    const std::string name = fs::absolute(command.root).lexically_normal().filename().string();
    picture = options.output.value_or(format("{}_{}.png", name, episode.from + frame)).string();
    write_durable(picture, data::encode_png(Strip(item, metadata->camera_keys()).picture()));
  }
  if (command.json) {
    print_json(dataset, item, episode, frame, picture);
  } else {
    print_text(dataset, item, frame, picture);
  }
  return 0;
}

}  // namespace lerobot
