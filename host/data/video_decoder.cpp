#include "host/data/video_decoder.h"

#include <cmath>

#include "host/base/error.h"
#include "host/data/ffmpeg.h"
#include "host/data/pixels.h"
#include "host/data/video_file.h"

namespace lerobot::data {
namespace {

constexpr double kNominalFps = 30;

}  // namespace

struct VideoDecoder::Impl {
  VideoFile file;
  FfmpegPtr<AVCodecContext> decoder;
  FfmpegPtr<AVPacket> packet{av_packet_alloc()};
  // Two frames in order of presentation, between which the last time asked for lies: before it, and at or after it.
  FfmpegPtr<AVFrame> before{av_frame_alloc()};
  FfmpegPtr<AVFrame> after{av_frame_alloc()};
  bool has_before = false, has_after = false;
  PixelConverter converter;
  /// A frame this near to the time asked for is the nearest one: a quarter of the distance between frames.
  double near_enough = 0;

  Impl(const std::filesystem::path& root, std::string relative_path) : file(root, std::move(relative_path)) {
    decoder = open_decoder(file.stream()->codecpar->codec_id, file.stream()->codecpar, file.name());
    decoder->pkt_timebase = file.stream()->time_base;
    const double fps = av_q2d(file.stream()->avg_frame_rate);
    near_enough = 0.25 / (std::isfinite(fps) && fps > 0 ? fps : kNominalFps);
  }

  double time(const FfmpegPtr<AVFrame>& frame) const { return file.seconds(frame->pts); }

  /// Decodes the next frame into `after`; false at the end.
  bool decode_next() {
    av_frame_unref(after.get());
    while (true) {
      int code = avcodec_receive_frame(decoder.get(), after.get());
      if (code >= 0) {
        after->pts = after->best_effort_timestamp;
        if (after->pts == AV_NOPTS_VALUE) fail(ErrorKind::kData, "{}: a frame has no time.", file.name());
        return true;
      }
      if (code == AVERROR_EOF) return false;
      if (code == AVERROR(EAGAIN)) {
        const bool has_packet = file.read(packet.get());
        code = avcodec_send_packet(decoder.get(), has_packet ? packet.get() : nullptr);
        av_packet_unref(packet.get());
      }
      if (code < 0) {
        fail(ErrorKind::kData, "{}: decoding failed ({}). The file is damaged; fetch it again.", file.name(),
             ffmpeg_error(code));
      }
    }
  }

  /// The time of the key frame that decoding for `target` starts from, as far as the container's index tells.
  std::int64_t key_frame_before(std::int64_t target) const {
    const int index = av_index_search_timestamp(file.stream(), target, AVSEEK_FLAG_BACKWARD);
    return index < 0 ? INT64_MIN : avformat_index_get_entry(file.stream(), index)->timestamp;
  }

  /// Decodes the first frame after a jump in the file.
  void restart(bool jumped) {
    if (!jumped) fail(ErrorKind::kData, "{}: it cannot be searched by time.", file.name());
    avcodec_flush_buffers(decoder.get());
    has_before = false;
    has_after = decode_next();
  }

  /// Places the decoder so that the frame at hand is at or before `seconds`, if there is one.
  void approach(double seconds) {
    constexpr int kTries = 3;
    std::int64_t target = file.timestamp(seconds);
    for (int i = 0; i < kTries; ++i) {
      restart(file.seek(target));
      if (has_after && time(after) <= seconds + near_enough) return;
      // Key frames are indexed by decoding time: the one found may be shown later than the time asked for.
      const std::int64_t key_frame = key_frame_before(target);
      if (key_frame == INT64_MIN) break;
      target = key_frame - 1;
    }
    restart(file.rewind());
  }

  /// Whether going on from the frames at hand reaches `seconds` without passing over a key frame.
  bool can_continue(double seconds) const {
    if (has_before && time(before) <= seconds && has_after && seconds <= time(after)) return true;
    if (!has_after || time(after) > seconds + near_enough) return false;
    return key_frame_before(file.timestamp(seconds)) <= after->pts;
  }

  VideoFrame nearest(double seconds) {
    if (!can_continue(seconds)) approach(seconds);
    while (has_after && time(after) < seconds - near_enough) {
      std::swap(before, after);
      has_before = true;
      has_after = decode_next();
    }
    if (!has_before && !has_after) fail(ErrorKind::kData, "{}: it has no frames.", file.name());
    const bool take_before =
        !has_after || (has_before && std::abs(time(before) - seconds) < std::abs(time(after) - seconds));
    const FfmpegPtr<AVFrame>& chosen = take_before ? before : after;
    return {converter.to_rgb(*chosen, file.name()), time(chosen)};
  }
};

VideoDecoder::VideoDecoder(const std::filesystem::path& root, std::string relative_path)
    : impl_(std::make_unique<Impl>(root, std::move(relative_path))) {}

VideoDecoder::~VideoDecoder() = default;

VideoFrame VideoDecoder::nearest(double seconds) {
  return impl_->nearest(seconds);
}

}  // namespace lerobot::data
