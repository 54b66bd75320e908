#include "tests/unit/data/synthetic_dataset.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/ffmpeg.h"

namespace lerobot::data {
namespace {

/// Columns collected one by one, then written as a file.
class TableWriter {
 public:
  template <class Builder, class Value>
  void add(const std::string& name, const std::vector<Value>& values) {
    Builder builder;
    for (const auto& value : values) PARQUET_THROW_NOT_OK(builder.Append(value));
    add_array(name, builder.Finish().ValueOrDie());
  }

  void add_pairs(const std::string& name, const std::vector<float>& values) {
    auto numbers = std::make_shared<arrow::FloatBuilder>();
    arrow::ListBuilder builder(arrow::default_memory_pool(), numbers);
    for (std::size_t i = 0; i < values.size(); i += 2) {
      PARQUET_THROW_NOT_OK(builder.Append());
      PARQUET_THROW_NOT_OK(numbers->AppendValues({values[i], values[i + 1]}));
    }
    add_array(name, builder.Finish().ValueOrDie());
  }

  void add_string_lists(const std::string& name, const std::vector<std::string>& values) {
    auto texts = std::make_shared<arrow::StringBuilder>();
    arrow::ListBuilder builder(arrow::default_memory_pool(), texts);
    for (const std::string& value : values) {
      PARQUET_THROW_NOT_OK(builder.Append());
      PARQUET_THROW_NOT_OK(texts->Append(value));
    }
    add_array(name, builder.Finish().ValueOrDie());
  }

  void add_images(const std::string& name, const std::vector<std::vector<std::byte>>& values) {
    arrow::BinaryBuilder bytes;
    arrow::StringBuilder path;
    for (const auto& value : values) {
      PARQUET_THROW_NOT_OK(
          bytes.Append(reinterpret_cast<const std::uint8_t*>(value.data()), static_cast<std::int32_t>(value.size())));
      PARQUET_THROW_NOT_OK(path.AppendNull());
    }
    add_array(name, arrow::StructArray::Make({bytes.Finish().ValueOrDie(), path.Finish().ValueOrDie()},
                                             std::vector<std::string>{"bytes", "path"})
                        .ValueOrDie());
  }

  void write(const std::filesystem::path& path, std::int64_t row_group_rows) const {
    std::filesystem::create_directories(path.parent_path());
    const auto table = arrow::Table::Make(arrow::schema(fields_), arrays_);
    const auto file = arrow::io::FileOutputStream::Open(path.string()).ValueOrDie();
    // Small pages and dictionaries, so that a test's few rows take many of them.
    const auto properties = parquet::WriterProperties::Builder()
                                .data_pagesize(4096)
                                ->dictionary_pagesize_limit(8192)
                                ->write_batch_size(16)
                                ->compression(parquet::Compression::SNAPPY)
                                ->build();
    PARQUET_THROW_NOT_OK(
        parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), file, row_group_rows, properties));
    PARQUET_THROW_NOT_OK(file->Close());
  }

 private:
  void add_array(const std::string& name, std::shared_ptr<arrow::Array> array) {
    fields_.push_back(arrow::field(name, array->type()));
    arrays_.push_back(std::move(array));
  }

  std::vector<std::shared_ptr<arrow::Field>> fields_;
  std::vector<std::shared_ptr<arrow::Array>> arrays_;
};

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::vector<SyntheticEpisode> with_starts(std::vector<SyntheticEpisode> episodes) {
  std::int64_t next = 0;
  for (SyntheticEpisode& episode : episodes) {
    if (!episode.from) episode.from = next;
    next = *episode.from + episode.length;
  }
  return episodes;
}

void write_info(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  const std::int64_t total = dataset.total_episodes < 0 ? std::ssize(dataset.episodes) : dataset.total_episodes;
  std::string features;
  if (!dataset.camera.empty()) features += "\"observation.image\": " + dataset.camera + ", ";
  features += R"("observation.state": {"dtype": "float32", "shape": )" + dataset.state_shape + R"(, "names": null}, )";
  features += R"("timestamp": {"dtype": "float32", "shape": [1], "names": null})";
  for (const char* key : {"frame_index", "episode_index", "index", "task_index"}) {
    features += std::string(", \"") + key + R"(": {"dtype": "int64", "shape": [1], "names": null})";
  }
  write_text(root / "meta/info.json",
             "{\"codebase_version\": \"" + dataset.version + "\", \"fps\": " + json::float_repr(dataset.fps) +
                 ", \"total_episodes\": " + std::to_string(total) + ", \"features\": {" + features + "}}");
}

void write_tasks(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  std::vector<std::int64_t> indices;
  std::vector<std::string> texts;
  for (const auto& [index, text] : dataset.tasks) {
    indices.push_back(index);
    texts.push_back(text);
  }
  TableWriter table;
  table.add<arrow::Int64Builder>("task_index", indices);
  table.add<arrow::StringBuilder>(dataset.task_column, texts);
  table.write(root / "meta/tasks.parquet", dataset.row_group_rows);
}

void write_episodes(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  const std::vector<SyntheticEpisode> episodes = with_starts(dataset.episodes);
  std::vector<std::size_t> order = dataset.metadata_order;
  if (order.empty()) {
    for (std::size_t i = 0; i < episodes.size(); ++i) order.push_back(i);
  }
  std::vector<std::int64_t> index, from, to, zero(order.size(), 0);
  std::vector<double> video_from, video_to;
  std::vector<std::string> tasks(order.size(), "push");
  for (const std::size_t i : order) {
    index.push_back(episodes[i].index);
    from.push_back(*episodes[i].from);
    to.push_back(*episodes[i].from + episodes[i].length);
    video_from.push_back(episodes[i].video_from);
    video_to.push_back(episodes[i].video_to);
  }
  TableWriter table;
  table.add<arrow::Int64Builder>("episode_index", index);
  table.add_string_lists("tasks", tasks);
  table.add<arrow::Int64Builder>("data/chunk_index", zero);
  table.add<arrow::Int64Builder>("data/file_index", zero);
  table.add<arrow::Int64Builder>("dataset_from_index", from);
  table.add<arrow::Int64Builder>("dataset_to_index", to);
  if (!dataset.video.empty()) {
    table.add<arrow::Int64Builder>("videos/observation.image/chunk_index", zero);
    table.add<arrow::Int64Builder>("videos/observation.image/file_index", zero);
    table.add<arrow::DoubleBuilder>("videos/observation.image/from_timestamp", video_from);
    table.add<arrow::DoubleBuilder>("videos/observation.image/to_timestamp", video_to);
  }
  table.write(root / "meta/episodes/chunk-000/file-000.parquet", dataset.row_group_rows);
}

void write_data(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  std::vector<float> state, timestamp;
  std::vector<std::int64_t> frame_index, episode_index, index, task_index;
  std::vector<std::vector<std::byte>> images;
  for (const SyntheticEpisode& episode : with_starts(dataset.episodes)) {
    for (std::int64_t frame = 0; frame < episode.length; ++frame) {
      if (dataset.image) images.push_back(dataset.image(std::ssize(index)));
      state.push_back(static_cast<float>(episode.index));
      state.push_back(dataset.state ? dataset.state(episode, frame) : static_cast<float>(frame));
      timestamp.push_back(static_cast<float>(dataset.timestamp ? dataset.timestamp(episode, frame)
                                                               : static_cast<double>(frame) / dataset.fps));
      frame_index.push_back(frame);
      episode_index.push_back(episode.index);
      index.push_back(*episode.from + frame);
      task_index.push_back(episode.task);
    }
  }
  TableWriter table;
  if (dataset.image) table.add_images("observation.image", images);
  table.add_pairs("observation.state", state);
  table.add<arrow::FloatBuilder>("timestamp", timestamp);
  table.add<arrow::Int64Builder>("frame_index", frame_index);
  table.add<arrow::Int64Builder>("episode_index", episode_index);
  table.add<arrow::Int64Builder>("index", index);
  table.add<arrow::Int64Builder>("task_index", task_index);
  table.write(root / "data/chunk-000/file-000.parquet", dataset.row_group_rows);
}

}  // namespace

TempDirectory::TempDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lerobot_data_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = pattern;
}

TempDirectory::~TempDirectory() {
  std::filesystem::remove_all(path_);
}

void SyntheticDataset::write(const std::filesystem::path& root) const {
  write_info(*this, root);
  write_tasks(*this, root);
  write_episodes(*this, root);
  write_data(*this, root);
  if (video.empty()) return;
  const std::filesystem::path target = root / "videos/observation.image/chunk-000/file-000.mp4";
  std::filesystem::create_directories(target.parent_path());
  std::filesystem::copy_file(video, target);
}

std::vector<std::byte> encode_image(const std::string& encoder, const std::string& pixel_format, int width, int height,
                                    const std::vector<std::uint8_t>& pixels) {
  const AVCodec* codec = avcodec_find_encoder_by_name(encoder.c_str());
  if (codec == nullptr) throw std::runtime_error("no encoder " + encoder);
  const FfmpegPtr<AVCodecContext> context(avcodec_alloc_context3(codec));
  context->width = width;
  context->height = height;
  context->pix_fmt = av_get_pix_fmt(pixel_format.c_str());
  context->time_base = {1, 1};
  const FfmpegPtr<AVFrame> frame(av_frame_alloc());
  frame->width = width;
  frame->height = height;
  frame->format = context->pix_fmt;
  const FfmpegPtr<AVPacket> packet(av_packet_alloc());
  std::uint8_t* data[4] = {};
  int strides[4] = {};
  av_image_fill_arrays(data, strides, pixels.data(), context->pix_fmt, width, height, 1);
  if (avcodec_open2(context.get(), codec, nullptr) < 0 || av_frame_get_buffer(frame.get(), 0) < 0) {
    throw std::runtime_error("cannot encode " + pixel_format);
  }
  av_image_copy(frame->data, frame->linesize, const_cast<const std::uint8_t**>(data), strides, context->pix_fmt, width,
                height);
  if (avcodec_send_frame(context.get(), frame.get()) < 0 || avcodec_send_frame(context.get(), nullptr) < 0 ||
      avcodec_receive_packet(context.get(), packet.get()) < 0) {
    throw std::runtime_error("encoding failed");
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(packet->data);
  return {bytes, bytes + packet->size};
}

std::string data_error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace lerobot::data
