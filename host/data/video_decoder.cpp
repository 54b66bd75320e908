#include "host/data/video_decoder.h"

#include <cmath>
#include <optional>

#include "host/base/error.h"
#include "host/data/ffmpeg.h"
#include "host/data/pixels.h"
#include "host/data/video_file.h"

namespace lerobot::data {
namespace {

/// What a jump costs on top of what it decodes, in frames: the decoder drops its state and builds it up again.
constexpr int kJumpCost = 2;

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
  double frame_seconds = 0;
  /// A frame this near to the time asked for is the nearest one: a quarter of the distance between frames.
  double near_enough = 0;
  double last_asked = 0;
  std::int64_t packets = 0;
  // A decoder that reorders frames holds some back. When the one asked for was put in and nothing after it is likely to
  // be asked for next, it is told that the stream ends here, rather than fed with frames that nobody wants.
  std::optional<double> end_at;
  bool wanted_is_in = false;
  bool ended = false;  ///< it was told so: it can only go on after a jump

  Impl(const std::filesystem::path& root, std::string relative_path) : file(root, std::move(relative_path)) {
    decoder = open_decoder(file.stream()->codecpar->codec_id, file.stream()->codecpar, file.name());
    decoder->pkt_timebase = file.stream()->time_base;
    frame_seconds = file.frame_seconds();
    near_enough = 0.25 * frame_seconds;
  }

  double time(const FfmpegPtr<AVFrame>& frame) const { return file.seconds(frame->pts); }
  bool is_near(std::int64_t timestamp, double seconds) const {
    return timestamp != AV_NOPTS_VALUE && std::abs(file.seconds(timestamp) - seconds) <= near_enough;
  }

  /// Gives the decoder the next packet, or the end of the stream.
  int feed() {
    if (wanted_is_in || !file.read(packet.get())) {
      ended = true;
      return avcodec_send_packet(decoder.get(), nullptr);
    }
    ++packets;
    const int code = avcodec_send_packet(decoder.get(), packet.get());
    wanted_is_in = end_at && is_near(packet->pts, *end_at);
    av_packet_unref(packet.get());
    return code;
  }

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
      if (code == AVERROR(EAGAIN)) code = feed();
      if (code < 0) {
        fail(ErrorKind::kData, "{}: decoding failed ({}). The file is damaged; fetch it again.", file.name(),
             ffmpeg_error(code));
      }
    }
  }

  /// Decodes the first frame after a jump in the file.
  void restart(bool jumped) {
    if (!jumped) fail(ErrorKind::kData, "{}: it cannot be searched by time.", file.name());
    avcodec_flush_buffers(decoder.get());
    ended = wanted_is_in = false;
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
      const int key_frame = file.index_at(target, /*key_frame=*/true);
      if (key_frame < 0) break;
      target = file.indexed_timestamp(key_frame) - 1;
    }
    restart(file.rewind());
  }

  /// Whether going on from the frames at hand reaches `seconds` for less than a jump to the key frame before it.
  bool can_continue(double seconds) const {
    if (has_before && time(before) <= seconds && has_after && seconds <= time(after)) return true;
    if (!has_after || time(after) > seconds + near_enough) return false;
    if (is_near(after->pts, seconds)) return true;
    const std::int64_t target = file.timestamp(seconds);
    const int key_frame = file.index_at(target, /*key_frame=*/true);
    const bool passes_key_frame = key_frame >= 0 && file.indexed_timestamp(key_frame) > after->pts;
    if (ended) return false;
    if (!passes_key_frame) return true;
    if (!file.lists_frames()) return false;
    const int to_decode = key_frame - file.index_at(after->pts, /*key_frame=*/false);
    return to_decode <= kJumpCost;
  }

  VideoFrame nearest(double seconds, BufferPool& pool) {
    const bool is_run = std::abs(seconds - last_asked - frame_seconds) <= near_enough;
    last_asked = seconds;
    end_at = is_run ? std::nullopt : std::optional(seconds);
    wanted_is_in = false;
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
    return {converter.to_rgb(*chosen, file.name(), pool), time(chosen)};
  }
};

VideoDecoder::VideoDecoder(const std::filesystem::path& root, std::string relative_path)
    : impl_(std::make_unique<Impl>(root, std::move(relative_path))) {}

VideoDecoder::~VideoDecoder() = default;

VideoFrame VideoDecoder::nearest(double seconds, BufferPool& pool) {
  return impl_->nearest(seconds, pool);
}

VideoFrame VideoDecoder::nearest(double seconds) {
  BufferPool no_pool(0);
  return nearest(seconds, no_pool);
}

std::int64_t VideoDecoder::packets() const {
  return impl_->packets;
}

}  // namespace lerobot::data
