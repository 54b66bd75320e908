#pragma once

// Private to the sources that use FFmpeg.

#include <filesystem>
#include <string>

#include "host/data/ffmpeg.h"
#include "host/data/video_decoder.h"

namespace lerobot::data {

/// A container file and its one video stream.
class VideoFile {
 public:
  VideoFile(const std::filesystem::path& root, std::string relative_path);

  const std::string& name() const { return name_; }
  /// What the header says; reads all packets when it has no duration, and is then at the end of the file.
  VideoInfo describe();
  AVStream* stream() const { return stream_; }
  double seconds(std::int64_t timestamp) const { return static_cast<double>(timestamp) * av_q2d(stream_->time_base); }
  /// In units of the stream, rounded to the nearest.
  std::int64_t timestamp(double seconds) const;

  /// The next packet of the stream; false at the end of the file.
  bool read(AVPacket* packet);
  /// To the key frame at or before `timestamp`; the start of the file if there is none. False if that fails.
  bool seek(std::int64_t timestamp);
  bool rewind();
  /// The place of `timestamp` in the order of decoding: of the last frame, or key frame, at or before it; -1 if there
  /// is none. Frames are counted where the header lists each of them (see lists_frames()), else key frames.
  int index_at(std::int64_t timestamp, bool key_frame) const;
  std::int64_t indexed_timestamp(int index) const { return avformat_index_get_entry(stream_, index)->timestamp; }
  bool lists_frames() const;
  /// Seconds between frames: the least where the header lists them, since pauses stretch the average; else the average,
  /// or that of 30 frames a second.
  double frame_seconds() const;

 private:
  [[noreturn]] void fail_file(const std::string& reason) const;
  void check_complete(const std::filesystem::path& path) const;
  double find_duration();

  std::string name_;
  FfmpegPtr<AVFormatContext> format_;
  AVStream* stream_ = nullptr;
};

}  // namespace lerobot::data
