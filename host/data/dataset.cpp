#include "host/data/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "host/base/error.h"
#include "host/data/binary_column.h"
#include "host/data/byte_cache.h"
#include "host/data/decoder_pool.h"
#include "host/data/frame_table.h"
#include "host/data/image_decoder.h"
#include "host/data/preflight.h"
#include "host/data/windows.h"

namespace lerobot::data {
namespace {

/// value / 255 as float32 of each byte: a table is faster than the division.
std::array<float, 256> make_unit_values() {
  std::array<float, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 255.0f;
  return values;
}

/// uint8 / 255 as float32: how images stored in parquet come.
void write_unit_range(const Buffer& pixels, std::byte* out) {
  static const std::array<float, 256> kUnitValues = make_unit_values();
  const auto* in = elements_of<std::uint8_t>(pixels);
  auto* values = reinterpret_cast<float*>(out);
  for (std::int64_t i = 0; i < pixels.elements(); ++i) values[i] = kUnitValues[in[i]];
}

void refuse_depth_videos(const DatasetMetadata& metadata) {
  for (const std::string& key : metadata.video_keys()) {
    if (!metadata.features().find(key)->is_depth) continue;
    fail(ErrorKind::kData, "feature {} is a depth video, and only RGB videos are read. Remove it from the dataset.",
         key);
  }
}

}  // namespace

class Dataset::Impl {
 public:
  explicit Impl(DatasetOptions options)
      : options_(std::move(options)),
        metadata_owner_(options_.metadata
                            ? options_.metadata
                            : std::make_shared<const DatasetMetadata>(DatasetMetadata::load(options_.root))),
        metadata_(*metadata_owner_),
        episodes_(choose_episodes(metadata_, options_.episodes, options_.exclude_episodes)),
        deltas_(delta_indices(options_.delta_timestamps, metadata_.fps(), options_.tolerance_s, metadata_.features())),
        table_((refuse_depth_videos(metadata_), check_videos(metadata_, episodes_), metadata_), episodes_),
        cache_(std::make_shared<ByteCache>(options_.frame_cache_bytes)),
        decoders_(options_.root) {
    check_timestamps(metadata_, episodes_, table_, options_.tolerance_s);
    check_tasks();
    open_image_columns();
    for (std::size_t camera = 0; camera < camera_count(); ++camera) frame(camera, episodes_.front().first_row);
  }

  const DatasetMetadata& metadata() const { return metadata_; }
  const std::vector<Episode>& episodes() const { return episodes_; }
  std::int64_t rows() const { return table_.rows(); }
  std::span<const std::int64_t> task_indices() const {
    return {table_.integers("task_index"), static_cast<std::size_t>(rows())};
  }

  Item item(std::int64_t row) const {
    if (row < 0 || row >= rows()) fail(ErrorKind::kInternal, "row {} of a dataset of {} rows.", row, rows());
    Item item;
    const std::vector<std::string>& videos = metadata_.video_keys();
    for (std::size_t v = 0; v < videos.size(); ++v) item.tensors.append(videos[v], frames(v, videos[v], row));
    std::size_t image = videos.size();
    for (const auto& [key, feature] : metadata_.features()) {
      if (feature.is_image()) item.tensors.append(key, frames(image++, key, row));
      if (feature.is_number()) item.tensors.append(key, numbers(key, row));
      if (feature.is_string()) item.strings.append(key, (*table_.strings().find(key))[static_cast<std::size_t>(row)]);
    }
    for (const auto& [key, deltas] : deltas_) item.tensors.append(key + "_is_pad", padding(deltas, row));
    item.strings["task"] = metadata_.task(table_.integers("task_index")[row]);
    return item;
  }

  std::string row_name(std::int64_t row) const {
    return format("row {} (episode {}, frame {})", row, episodes_[table_.episode_of(row)].index,
                  table_.integers("frame_index")[row]);
  }

 private:
  // Cameras are numbered: the videos, then the images.
  std::size_t camera_count() const { return metadata_.video_keys().size() + metadata_.image_keys().size(); }
  bool is_video(std::size_t camera) const { return camera < metadata_.video_keys().size(); }
  const std::string& camera_key(std::size_t camera) const {
    const std::size_t videos = metadata_.video_keys().size();
    return camera < videos ? metadata_.video_keys()[camera] : metadata_.image_keys()[camera - videos];
  }

  void check_tasks() const {
    const std::int64_t* task_indices = table_.integers("task_index");
    for (const Episode& episode : episodes_) {
      for (std::int64_t row = episode.first_row; row < episode.first_row + episode.length(); ++row) {
        if (metadata_.tasks().contains(task_indices[row])) continue;
        fail(ErrorKind::kData, "{}: task_index {} in episode {} has no text in meta/tasks.parquet.",
             metadata_.data_path(episode), task_indices[row], episode.index);
      }
    }
  }

  void open_image_columns() {
    std::uint64_t id = 0;
    for (const std::string& key : metadata_.image_keys()) {
      std::vector<BinaryColumn>& columns = image_columns_.emplace_back();
      for (const std::string& file : table_.files()) {
        columns.emplace_back(options_.root, file, key + ".bytes", id++, cache_);
      }
    }
  }

  /// The rows of a window: clamped to the episode, so that its first or last frame repeats.
  std::vector<std::int64_t> window(const std::vector<std::int64_t>* deltas, std::int64_t row) const {
    if (deltas == nullptr) return {row};
    const Episode& episode = episodes_[table_.episode_of(row)];
    std::vector<std::int64_t> rows;
    for (const std::int64_t delta : *deltas) {
      rows.push_back(std::clamp(row + delta, episode.first_row, episode.first_row + episode.length() - 1));
    }
    return rows;
  }

  Buffer padding(const std::vector<std::int64_t>& deltas, std::int64_t row) const {
    const Episode& episode = episodes_[table_.episode_of(row)];
    Buffer result = make_buffer(DType::kBool, {static_cast<std::int64_t>(deltas.size())});
    for (std::size_t i = 0; i < deltas.size(); ++i) {
      const std::int64_t frame = row + deltas[i] - episode.first_row;
      elements_of<bool>(result)[i] = frame < 0 || frame >= episode.length();
    }
    return result;
  }

  Buffer numbers(const std::string& key, std::int64_t row) const {
    const FrameTable::Column& column = *table_.columns().find(key);
    const std::vector<std::int64_t>* deltas = deltas_.find(key);
    const std::vector<std::int64_t> rows = window(deltas, row);
    std::vector<std::int64_t> shape = column.row_shape;
    if (deltas != nullptr) shape.insert(shape.begin(), static_cast<std::int64_t>(rows.size()));
    Buffer result = make_buffer(column.dtype, std::move(shape));
    std::byte* out = result.data.get();
    for (const std::int64_t at : rows) {
      std::memcpy(out, column.row(at), column.row_bytes);
      out += column.row_bytes;
    }
    return result;
  }

  Buffer frames(std::size_t camera, const std::string& key, std::int64_t row) const {
    const std::vector<std::int64_t>* deltas = deltas_.find(key);
    const std::vector<std::int64_t> rows = window(deltas, row);
    std::vector<Buffer> parts;
    for (const std::int64_t at : rows) parts.push_back(frame(camera, at));
    const bool to_float = !is_video(camera) && parts.front().dtype == DType::kUInt8;
    std::vector<std::int64_t> shape = parts.front().shape;
    if (deltas != nullptr) shape.insert(shape.begin(), static_cast<std::int64_t>(rows.size()));
    Buffer result = make_buffer(to_float ? DType::kFloat32 : parts.front().dtype, std::move(shape));
    std::byte* out = result.data.get();
    for (const Buffer& part : parts) {
      if (part.dtype != parts.front().dtype) {
        fail(ErrorKind::kData, "{}: one window of {} mixes 8-bit and 16-bit images.", row_name(row), key);
      }
      if (to_float) {
        write_unit_range(part, out);
      } else {
        std::memcpy(out, part.data.get(), part.bytes());
      }
      out += result.bytes() / parts.size();
    }
    return result;
  }

  /// One decoded frame, out of the cache if it is there. Its bytes are shared: not to be written.
  Buffer frame(std::size_t camera, std::int64_t row) const {
    const std::uint64_t key = static_cast<std::uint64_t>(camera) << 40 | static_cast<std::uint64_t>(row);
    const auto make = [&]() -> ByteCache::Value {
      auto pixels = std::make_shared<Buffer>(is_video(camera) ? decode_video(camera, row) : decode_stored(camera, row));
      return {pixels, pixels->bytes()};
    };
    return *std::static_pointer_cast<const Buffer>(cache_->get(key, make));
  }

  Buffer decode_video(std::size_t camera, std::int64_t row) const {
    const Episode& episode = episodes_[table_.episode_of(row)];
    const std::string path = metadata_.video_path(episode, camera);
    const auto timestamp = static_cast<double>(table_.floats("timestamp")[row]);
    const double asked = episode.videos[camera].from_timestamp + timestamp;
    VideoFrame found = decoders_.nearest(path, asked);
    const double allowed = options_.tolerance_s + float32_step(timestamp);
    if (!(std::abs(found.seconds - asked) <= allowed)) {
      fail(ErrorKind::kData,
           "{}: episode {} of camera {} asks for the frame at {} s, but the nearest one is at {} s and {} s are "
           "allowed. "
           "Repair the timestamps, or raise --tolerance_s.",
           path, episode.index, camera_key(camera), asked, found.seconds, allowed);
    }
    check_shape(found.pixels, camera, path);
    return std::move(found.pixels);
  }

  Buffer decode_stored(std::size_t camera, std::int64_t row) const {
    const std::size_t episode = table_.episode_of(row);
    const FrameTable::Place& place = table_.place(episode);
    const BinaryColumn& column = image_columns_[camera - metadata_.video_keys().size()][place.file];
    const std::int64_t file_row = place.first_row + row - episodes_[episode].first_row;
    const std::string source = format("{}, {} in row {}", table_.files()[place.file], camera_key(camera), file_row);
    Buffer pixels = decode_image(column.row(file_row), source);
    check_shape(pixels, camera, source);
    return pixels;
  }

  void check_shape(const Buffer& pixels, std::size_t camera, const std::string& source) const {
    const std::vector<std::int64_t> declared = metadata_.features().find(camera_key(camera))->policy_shape();
    if (pixels.shape == declared) return;
    fail(ErrorKind::kData, "{}: a frame has shape {}, but meta/info.json declares {} (channels, height, width) for {}.",
         source, shape_text(pixels.shape), shape_text(declared), camera_key(camera));
  }

  const DatasetOptions options_;
  const std::shared_ptr<const DatasetMetadata> metadata_owner_;
  const DatasetMetadata& metadata_;
  std::vector<Episode> episodes_;
  const DeltaIndices deltas_;
  const FrameTable table_;
  const std::shared_ptr<ByteCache> cache_;
  mutable DecoderPool decoders_;
  std::vector<std::vector<BinaryColumn>> image_columns_;  ///< by image key, by file
};

Dataset::Dataset(DatasetOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Dataset::~Dataset() = default;

const DatasetMetadata& Dataset::metadata() const {
  return impl_->metadata();
}
const std::vector<Episode>& Dataset::episodes() const {
  return impl_->episodes();
}
std::int64_t Dataset::num_frames() const {
  return impl_->rows();
}
std::int64_t Dataset::num_episodes() const {
  return static_cast<std::int64_t>(impl_->episodes().size());
}
std::span<const std::int64_t> Dataset::task_indices() const {
  return impl_->task_indices();
}
Item Dataset::item(std::int64_t row) const {
  return impl_->item(row);
}
std::string Dataset::row_name(std::int64_t row) const {
  return impl_->row_name(row);
}

}  // namespace lerobot::data
