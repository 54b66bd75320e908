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
#include "host/data/video_decoder.h"
#include "host/data/windows.h"

namespace lerobot::data {
namespace {

/// value / 255 as float32 of each byte: a table is faster than the division.
std::array<float, 256> make_unit_values() {
  std::array<float, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 255.0f;
  return values;
}

/// uint8 / 255 as float32: how 8-bit images stored in parquet come.
void write_unit_range(const Buffer& pixels, std::byte* out) {
  static const std::array<float, 256> kUnitValues = make_unit_values();
  const auto* in = elements_of<std::uint8_t>(pixels);
  auto* values = reinterpret_cast<float*>(out);
  for (std::int64_t i = 0; i < pixels.elements(); ++i) values[i] = kUnitValues[in[i]];
}

/// What can be refused before any file is opened.
void check_cameras(const DatasetMetadata& metadata) {
  if (!metadata.video_keys().empty()) load_ffmpeg();
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
        table_((check_cameras(metadata_), check_files(metadata_, episodes_), metadata_), episodes_, options_.features),
        cache_(std::make_shared<ByteCache>(options_.frame_cache_bytes)),
        decoders_(options_.root) {
    check_timestamps(metadata_, episodes_, table_, options_.tolerance_s);
    warn_about_non_finite(episodes_, table_);
    check_tasks(metadata_, episodes_, table_);
    open_image_columns();
    plan_outputs();
    for (std::size_t camera = 0; camera < camera_count(); ++camera) frame(camera, episodes_.front().first_row);
  }

  const DatasetMetadata& metadata() const { return metadata_; }
  const std::vector<Episode>& episodes() const { return episodes_; }
  std::int64_t rows() const { return table_.rows(); }
  std::span<const std::int64_t> task_indices() const {
    return {table_.integers("task_index"), static_cast<std::size_t>(rows())};
  }

  const std::vector<TensorSpec>& layout() const { return layout_; }
  const FrameTable& table() const { return table_; }

  std::shared_ptr<const Buffer> picture(std::string_view camera, std::int64_t row) const {
    for (std::size_t i = 0; i < camera_count(); ++i) {
      if (camera_key(i) == camera) return frame(i, row);
    }
    fail(ErrorKind::kInternal, "{} is no camera of the dataset.", camera);
  }

  Item item(std::int64_t row) const {
    Item item;
    for (const TensorSpec& spec : layout_) item.tensors.append(spec.key, make_buffer(spec.dtype, spec.shape));
    read(row, item.tensors, 0);
    for (const auto& [key, texts] : table_.strings()) item.strings.append(key, texts[static_cast<std::size_t>(row)]);
    item.strings["task"] = task(row);
    return item;
  }

  void read(std::int64_t row, const OrderedMap<Buffer>& batch, std::size_t slot) const {
    if (row < 0 || row >= rows()) fail(ErrorKind::kInternal, "row {} of a dataset of {} rows.", row, rows());
    auto tensor = batch.begin();
    for (std::size_t i = 0; i < outputs_.size(); ++i, ++tensor) {
      const Output& output = outputs_[i];
      std::byte* place = tensor->second.data.get() + slot * layout_[i].bytes;
      if (output.column != nullptr) {
        write_numbers(output, row, place);
      } else if (output.camera) {
        write_frames(output, row, place);
      } else {
        write_padding(*output.deltas, row, place);
      }
    }
  }

  const std::string& task(std::int64_t row) const { return metadata_.task(table_.integers("task_index")[row]); }

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

  void open_image_columns() {
    std::uint64_t id = 0;
    for (const std::string& key : metadata_.image_keys()) {
      std::vector<BinaryColumn>& columns = image_columns_.emplace_back();
      for (const std::string& file : table_.files()) {
        columns.emplace_back(options_.root, file, key + ".bytes", id++, cache_);
      }
    }
  }

  /// Where one tensor of an item comes from: a column of numbers, a camera, or, with neither, a window's padding.
  struct Output {
    const FrameTable::Column* column = nullptr;
    std::optional<std::size_t> camera = {};
    const std::vector<std::int64_t>* deltas = nullptr;  ///< the window; null for the row alone
    std::size_t frame_bytes = 0;                        ///< of one entry of the window
  };

  void plan_outputs() {
    const std::vector<std::string>& videos = metadata_.video_keys();
    for (std::size_t v = 0; v < videos.size(); ++v) plan_camera(v);
    std::size_t image = videos.size();
    for (const auto& [key, feature] : metadata_.features()) {
      if (feature.is_image()) plan_camera(image++);
      if (!feature.is_number() || !is_asked_for(key)) continue;
      const FrameTable::Column& column = *table_.columns().find(key);
      add_output(key, column.dtype, column.row_shape, {.column = &column, .deltas = deltas_.find(key)});
    }
    for (const auto& [key, deltas] : deltas_) {
      if (!metadata_.features().find(key)->is_camera() && !is_asked_for(key)) continue;
      add_output(key + "_is_pad", DType::kBool, {}, {.deltas = &deltas});
    }
  }

  bool is_asked_for(const std::string& key) const {
    const auto& features = options_.features;
    return !features || std::find(features->begin(), features->end(), key) != features->end();
  }

  void plan_camera(std::size_t camera) {
    const std::string& key = camera_key(camera);
    const DType dtype = is_video(camera) ? DType::kUInt8 : DType::kFloat32;
    add_output(key, dtype, metadata_.features().find(key)->policy_shape(),
               {.camera = camera, .deltas = deltas_.find(key)});
  }

  void add_output(std::string key, DType dtype, std::vector<std::int64_t> shape, Output output) {
    output.frame_bytes = Buffer{dtype, shape, nullptr}.bytes();
    const std::size_t entries = output.deltas == nullptr ? 1 : output.deltas->size();
    if (output.deltas != nullptr) shape.insert(shape.begin(), static_cast<std::int64_t>(entries));
    outputs_.push_back(output);
    layout_.push_back({std::move(key), dtype, std::move(shape), output.frame_bytes * entries});
  }

  /// Calls `visit(row, place)` for each entry of a window: rows are clamped to the episode, so that its first or last
  /// frame repeats.
  template <class Visit>
  void for_window(const Output& output, std::int64_t row, std::byte* place, const Visit& visit) const {
    if (output.deltas == nullptr) return visit(row, place);
    const Episode& episode = episodes_[table_.episode_of(row)];
    for (const std::int64_t delta : *output.deltas) {
      visit(std::clamp(row + delta, episode.first_row, episode.first_row + episode.length() - 1), place);
      place += output.frame_bytes;
    }
  }

  void write_padding(const std::vector<std::int64_t>& deltas, std::int64_t row, std::byte* place) const {
    const Episode& episode = episodes_[table_.episode_of(row)];
    for (const std::int64_t delta : deltas) {
      const std::int64_t frame = row + delta - episode.first_row;
      *place++ = static_cast<std::byte>(frame < 0 || frame >= episode.length());
    }
  }

  void write_numbers(const Output& output, std::int64_t row, std::byte* place) const {
    for_window(output, row, place,
               [&](std::int64_t at, std::byte* out) { std::memcpy(out, output.column->row(at), output.frame_bytes); });
  }

  void write_frames(const Output& output, std::int64_t row, std::byte* place) const {
    std::optional<DType> first;
    for_window(output, row, place, [&](std::int64_t at, std::byte* out) {
      const std::shared_ptr<const Buffer> pixels = frame(*output.camera, at);
      if (pixels->dtype != first.value_or(pixels->dtype)) {
        fail(ErrorKind::kData, "{}: one window of {} mixes 8-bit and 16-bit images.", row_name(row),
             camera_key(*output.camera));
      }
      first = pixels->dtype;
      if (!is_video(*output.camera) && pixels->dtype == DType::kUInt8) {
        write_unit_range(*pixels, out);
      } else {
        std::memcpy(out, pixels->data.get(), output.frame_bytes);
      }
    });
  }

  /// One decoded frame, out of the cache if it is there.
  std::shared_ptr<const Buffer> frame(std::size_t camera, std::int64_t row) const {
    const std::uint64_t key = static_cast<std::uint64_t>(camera) << 40 | static_cast<std::uint64_t>(row);
    if (auto cached = cache_->find(key)) return std::static_pointer_cast<const Buffer>(std::move(cached));
    auto pixels =
        std::make_shared<const Buffer>(is_video(camera) ? decode_video(camera, row) : decode_stored(camera, row));
    cache_->insert(key, {pixels, pixels->bytes()});
    return pixels;
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
  std::vector<TensorSpec> layout_;
  std::vector<Output> outputs_;  ///< one for each entry of layout_
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
const FrameTable& Dataset::table() const {
  return impl_->table();
}
std::shared_ptr<const Buffer> Dataset::picture(std::string_view camera, std::int64_t row) const {
  return impl_->picture(camera, row);
}
Item Dataset::item(std::int64_t row) const {
  return impl_->item(row);
}
const std::vector<TensorSpec>& Dataset::layout() const {
  return impl_->layout();
}
void Dataset::read(std::int64_t row, const OrderedMap<Buffer>& batch, std::size_t slot) const {
  impl_->read(row, batch, slot);
}
const std::string& Dataset::task(std::int64_t row) const {
  return impl_->task(row);
}
std::string Dataset::row_name(std::int64_t row) const {
  return impl_->row_name(row);
}

}  // namespace lerobot::data
