#include "tests/unit/data/synthetic_dataset.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

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

  void add_lists(const std::string& name, const std::vector<float>& values, std::int64_t width) {
    auto numbers = std::make_shared<arrow::FloatBuilder>();
    arrow::ListBuilder builder(arrow::default_memory_pool(), numbers);
    for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(width)) {
      PARQUET_THROW_NOT_OK(builder.Append());
      PARQUET_THROW_NOT_OK(numbers->AppendValues(values.data() + i, width));
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

bool is_v21(const SyntheticDataset& dataset) {
  return dataset.version.ends_with("2.1");
}

/// The episodes of one data file, and of one file of each camera.
struct FileOfEpisodes {
  std::string data;
  std::string video;  ///< with the key's place marked as {}
  std::vector<SyntheticEpisode> episodes;
};

std::string padded(std::int64_t number, int width) {
  std::string digits = std::to_string(number);
  return std::string(std::max<std::size_t>(digits.size(), static_cast<std::size_t>(width)) - digits.size(), '0') +
         digits;
}

std::vector<FileOfEpisodes> files_of(const SyntheticDataset& dataset) {
  std::map<std::pair<std::int64_t, std::int64_t>, FileOfEpisodes> files;
  for (const SyntheticEpisode& episode : with_starts(dataset.episodes)) {
    const bool v21 = is_v21(dataset);
    const std::int64_t chunk = v21 ? episode.index / dataset.chunks_size : episode.chunk;
    const std::int64_t number = v21 ? episode.index : episode.file;
    FileOfEpisodes& file = files[{chunk, number}];
    const std::string folder = "chunk-" + padded(chunk, 3);
    file.data = v21 ? "data/" + folder + "/episode_" + padded(number, 6) + ".parquet"
                    : "data/" + folder + "/file-" + padded(number, 3) + ".parquet";
    file.video = v21 ? "videos/" + folder + "/{}/episode_" + padded(number, 6) + ".mp4"
                     : "videos/{}/" + folder + "/file-" + padded(number, 3) + ".mp4";
    file.episodes.push_back(episode);
  }
  std::vector<FileOfEpisodes> list;
  for (auto& entry : files) list.push_back(std::move(entry.second));
  return list;
}

/// All cameras, `camera` among them.
std::vector<SyntheticCamera> cameras_of(const SyntheticDataset& dataset) {
  std::vector<SyntheticCamera> cameras;
  if (!dataset.camera.empty()) {
    SyntheticCamera camera{"observation.image", dataset.camera, {}, dataset.image};
    if (!dataset.video.empty()) {
      camera.write_video = [source = dataset.video](const std::filesystem::path& file, const auto&) {
        std::filesystem::copy_file(source, file);
      };
    }
    cameras.push_back(std::move(camera));
  }
  cameras.insert(cameras.end(), dataset.cameras.begin(), dataset.cameras.end());
  return cameras;
}

void write_info(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  const std::int64_t total = dataset.total_episodes < 0 ? std::ssize(dataset.episodes) : dataset.total_episodes;
  std::string features;
  for (const SyntheticCamera& camera : cameras_of(dataset)) features += "\"" + camera.key + "\": " + camera.info + ", ";
  for (const SyntheticNumbers& numbers : dataset.numbers) {
    features += "\"" + numbers.key + R"(": {"dtype": "float32", "shape": [)" + std::to_string(numbers.width) +
                R"(], "names": null}, )";
  }
  features += R"("observation.state": {"dtype": "float32", "shape": )" + dataset.state_shape + R"(, "names": null}, )";
  features += R"("timestamp": {"dtype": "float32", "shape": [1], "names": null})";
  for (const char* key : {"frame_index", "episode_index", "index", "task_index"}) {
    features += std::string(", \"") + key + R"(": {"dtype": "int64", "shape": [1], "names": null})";
  }
  write_text(root / "meta/info.json",
             "{\"codebase_version\": \"" + dataset.version + "\", \"fps\": " + json::float_repr(dataset.fps) +
                 ", \"chunks_size\": " + std::to_string(dataset.chunks_size) +
                 ", \"total_episodes\": " + std::to_string(total) + ", \"features\": {" + features + "}}");
}

/// Python's json.dumps of each object, one per line.
void write_lines(const std::filesystem::path& path, const std::vector<boost::json::object>& objects) {
  std::string text;
  for (const boost::json::object& object : objects) text += json::write_line(object) + "\n";
  write_text(path, text);
}

void write_tasks(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  std::vector<std::int64_t> indices;
  std::vector<std::string> texts;
  std::vector<boost::json::object> lines;
  for (const auto& [index, text] : dataset.tasks) {
    indices.push_back(index);
    texts.push_back(text);
    lines.push_back({{"task_index", index}, {"task", text}});
  }
  if (is_v21(dataset)) return write_lines(root / "meta/tasks.jsonl", lines);
  TableWriter table;
  table.add<arrow::Int64Builder>("task_index", indices);
  table.add<arrow::StringBuilder>(dataset.task_column, texts);
  table.write(root / "meta/tasks.parquet", dataset.row_group_rows);
}

/// In the order that the dataset asks for.
std::vector<SyntheticEpisode> listed_episodes(const SyntheticDataset& dataset) {
  const std::vector<SyntheticEpisode> episodes = with_starts(dataset.episodes);
  std::vector<SyntheticEpisode> listed;
  for (const std::size_t i : dataset.metadata_order) listed.push_back(episodes[i]);
  return listed.empty() ? episodes : listed;
}

void write_episode_lines(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  std::vector<boost::json::object> lines;
  for (const SyntheticEpisode& episode : listed_episodes(dataset)) {
    lines.push_back({{"episode_index", episode.index}, {"tasks", {"push"}}, {"length", episode.length}});
  }
  write_lines(root / "meta/episodes.jsonl", lines);
}

void write_episodes(const SyntheticDataset& dataset, const std::filesystem::path& root) {
  if (is_v21(dataset)) return write_episode_lines(dataset, root);
  std::vector<std::int64_t> index, from, to, chunk, file;
  std::vector<double> video_from, video_to;
  for (const SyntheticEpisode& episode : listed_episodes(dataset)) {
    index.push_back(episode.index);
    from.push_back(*episode.from);
    to.push_back(*episode.from + episode.length);
    chunk.push_back(episode.chunk);
    file.push_back(episode.file);
    video_from.push_back(episode.video_from);
    video_to.push_back(episode.video_to);
  }
  TableWriter table;
  table.add<arrow::Int64Builder>("episode_index", index);
  table.add_string_lists("tasks", std::vector<std::string>(index.size(), "push"));
  table.add<arrow::Int64Builder>("data/chunk_index", chunk);
  table.add<arrow::Int64Builder>("data/file_index", file);
  table.add<arrow::Int64Builder>("dataset_from_index", from);
  table.add<arrow::Int64Builder>("dataset_to_index", to);
  for (const SyntheticCamera& camera : cameras_of(dataset)) {
    if (!camera.write_video) continue;
    const std::string prefix = "videos/" + camera.key;
    table.add<arrow::Int64Builder>(prefix + "/chunk_index", chunk);
    table.add<arrow::Int64Builder>(prefix + "/file_index", file);
    table.add<arrow::DoubleBuilder>(prefix + "/from_timestamp", video_from);
    table.add<arrow::DoubleBuilder>(prefix + "/to_timestamp", video_to);
  }
  table.write(root / "meta/episodes/chunk-000/file-000.parquet", dataset.row_group_rows);
}

void write_data(const SyntheticDataset& dataset, const std::filesystem::path& path,
                const std::vector<SyntheticEpisode>& episodes) {
  std::vector<float> state, timestamp;
  std::vector<std::int64_t> frame_index, episode_index, index, task_index;
  std::vector<std::vector<float>> numbers(dataset.numbers.size());
  const std::vector<SyntheticCamera> cameras = cameras_of(dataset);
  std::vector<std::vector<std::vector<std::byte>>> images(cameras.size());
  for (const SyntheticEpisode& episode : episodes) {
    for (std::int64_t frame = 0; frame < episode.length; ++frame) {
      for (std::size_t i = 0; i < cameras.size(); ++i) {
        if (cameras[i].image) images[i].push_back(cameras[i].image(*episode.from + frame));
      }
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const SyntheticNumbers& source = dataset.numbers[i];
        for (std::int64_t k = 0; k < source.width; ++k) numbers[i].push_back(source.value(episode, frame, k));
      }
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
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    if (cameras[i].image) table.add_images(cameras[i].key, images[i]);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    table.add_lists(dataset.numbers[i].key, numbers[i], dataset.numbers[i].width);
  }
  table.add_lists("observation.state", state, 2);
  table.add<arrow::FloatBuilder>("timestamp", timestamp);
  table.add<arrow::Int64Builder>("frame_index", frame_index);
  table.add<arrow::Int64Builder>("episode_index", episode_index);
  table.add<arrow::Int64Builder>("index", index);
  table.add<arrow::Int64Builder>("task_index", task_index);
  table.write(path, dataset.row_group_rows);
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
  for (const FileOfEpisodes& file : files_of(*this)) {
    write_data(*this, root / file.data, file.episodes);
    for (const SyntheticCamera& each : cameras_of(*this)) {
      if (!each.write_video) continue;
      std::string path = file.video;
      path.replace(path.find("{}"), 2, each.key);
      std::filesystem::create_directories((root / path).parent_path());
      each.write_video(root / path, file.episodes);
    }
  }
}

SyntheticDataset three_tasks() {
  SyntheticDataset source;
  source.tasks = {{7, "推动方块"}, {0, "push \U0001F916 \"it\""}, {3, "two\nlines"}};
  source.episodes = {{0, 2}, {1, 2}, {2, 2}};
  source.episodes[1].task = 7;
  source.episodes[2].task = 3;
  return source;
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
