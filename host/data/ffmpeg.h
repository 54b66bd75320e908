#pragma once

// Private to the sources that use FFmpeg.

#include <memory>
#include <string>

#include "host/data/ffmpeg_functions.h"

namespace lerobot::data {

struct FfmpegDeleter {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(SwsContext* context) const { sws_freeContext(context); }
};
template <class T>
using FfmpegPtr = std::unique_ptr<T, FfmpegDeleter>;

/// Keeps FFmpeg from writing to stderr by itself: what matters comes back in our errors. Cheap to call again.
void silence_ffmpeg();

/// FFmpeg's own text for an error code.
std::string ffmpeg_error(int code);

/// Opens a software decoder of one thread. AV1 goes to libdav1d or libaom: FFmpeg's own av1 decoder needs hardware.
/// `parameters` may be null. Throws Error(kData) naming `source`, the codec and the decoders looked for.
FfmpegPtr<AVCodecContext> open_decoder(AVCodecID codec, const AVCodecParameters* parameters, const std::string& source);

}  // namespace lerobot::data
