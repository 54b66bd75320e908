#include "host/data/video_file.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "host/data/file_check.h"

namespace lerobot::data {

VideoFile::VideoFile(const std::filesystem::path& root, std::string relative_path) : name_(std::move(relative_path)) {
  const std::filesystem::path path = root / name_;
  if (const auto problem = file_problem(path)) fail_file("it is " + *problem);
  silence_ffmpeg();
  AVFormatContext* opened = nullptr;
  // The protocol by name: a path with a colon is a path.
  int code = avformat_open_input(&opened, ("file:" + path.string()).c_str(), nullptr, nullptr);
  if (code < 0) fail_file("it is damaged, truncated or no video: " + ffmpeg_error(code));
  format_.reset(opened);
  int index = av_find_best_stream(opened, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  const bool complete_header = index >= 0 && opened->streams[index]->codecpar->width > 0;
  if (!complete_header) {
    code = avformat_find_stream_info(opened, nullptr);
    if (code < 0) fail_file("its streams cannot be read: " + ffmpeg_error(code));
    index = av_find_best_stream(opened, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  }
  if (index < 0) fail_file("it has no video stream");
  for (unsigned i = 0; i < opened->nb_streams; ++i) {
    if (static_cast<int>(i) != index) opened->streams[i]->discard = AVDISCARD_ALL;
  }
  stream_ = opened->streams[index];
  check_complete(path);
}

VideoInfo VideoFile::describe() {
  const AVCodecParameters& parameters = *stream_->codecpar;
  return {avcodec_get_name(parameters.codec_id), parameters.width, parameters.height, find_duration()};
}

std::int64_t VideoFile::timestamp(double seconds) const {
  return static_cast<std::int64_t>(std::llround(seconds / av_q2d(stream_->time_base)));
}

bool VideoFile::read(AVPacket* packet) {
  while (true) {
    const int code = av_read_frame(format_.get(), packet);
    if (code == AVERROR_EOF) return false;
    if (code < 0) fail_file("reading it failed: " + ffmpeg_error(code));
    if (packet->stream_index == stream_->index) return true;
    av_packet_unref(packet);
  }
}

bool VideoFile::seek(std::int64_t timestamp) {
  return av_seek_frame(format_.get(), stream_->index, timestamp, AVSEEK_FLAG_BACKWARD) >= 0 || rewind();
}

bool VideoFile::rewind() {
  std::int64_t start = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
  if (const AVIndexEntry* first = avformat_index_get_entry(stream_, 0)) start = std::min(start, first->timestamp);
  return avformat_seek_file(format_.get(), stream_->index, INT64_MIN, start, start, 0) >= 0;
}

int VideoFile::index_at(std::int64_t timestamp, bool key_frame) const {
  const int any = key_frame ? 0 : AVSEEK_FLAG_ANY;
  return av_index_search_timestamp(stream_, timestamp, AVSEEK_FLAG_BACKWARD | any);
}

bool VideoFile::lists_frames() const {
  return stream_->nb_frames > 0 && avformat_index_get_entries_count(stream_) >= stream_->nb_frames;
}

double VideoFile::frame_seconds() const {
  constexpr double kNominalFps = 30;
  std::int64_t least = 0;
  for (int i = 1; lists_frames() && i < avformat_index_get_entries_count(stream_); ++i) {
    const std::int64_t step = indexed_timestamp(i) - indexed_timestamp(i - 1);
    if (step > 0 && (least == 0 || step < least)) least = step;
  }
  if (least > 0) return seconds(least);
  const double fps = av_q2d(stream_->avg_frame_rate);
  return 1 / (std::isfinite(fps) && fps > 0 ? fps : kNominalFps);
}

void VideoFile::fail_file(const std::string& reason) const {
  fail(ErrorKind::kData, "{}: {}. Fetch the file again.", name_, reason);
}

/// Where the header says where each frame's bytes are, they must lie inside the file.
void VideoFile::check_complete(const std::filesystem::path& path) const {
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  std::int64_t needed = 0;
  for (int i = 0; i < avformat_index_get_entries_count(stream_); ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(stream_, i);
    needed = std::max(needed, entry->pos + entry->size);
  }
  if (needed > size) {
    fail_file("it is truncated, " + std::to_string(size) + " bytes of at least " + std::to_string(needed));
  }
}

double VideoFile::find_duration() {
  if (stream_->duration > 0) return seconds(stream_->duration);
  if (format_->duration > 0) return static_cast<double>(format_->duration) / AV_TIME_BASE;
  const FfmpegPtr<AVPacket> packet(av_packet_alloc());
  std::int64_t last = 0;
  while (read(packet.get())) {
    const std::int64_t begin = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (begin != AV_NOPTS_VALUE) last = std::max(last, begin + packet->duration);
    av_packet_unref(packet.get());
  }
  if (last <= 0) fail_file("its duration is unknown: its packets have no times");
  return seconds(last);
}

VideoInfo probe_video(const std::filesystem::path& root, const std::string& relative_path) {
  return VideoFile(root, relative_path).describe();
}

}  // namespace lerobot::data
