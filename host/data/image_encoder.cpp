#include "host/data/image_encoder.h"

#include "host/base/error.h"
#include "host/data/ffmpeg.h"

namespace lerobot::data {
namespace {

void check(int code) {
  if (code < 0) fail(ErrorKind::kInternal, "the picture cannot be encoded as PNG: {}.", ffmpeg_error(code));
}

}  // namespace

std::string encode_png(const Picture& picture) {
  silence_ffmpeg();
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (codec == nullptr) fail(ErrorKind::kInternal, "FFmpeg here has no PNG encoder.");
  const FfmpegPtr<AVCodecContext> context(avcodec_alloc_context3(codec));
  const FfmpegPtr<AVFrame> frame(av_frame_alloc());
  const FfmpegPtr<AVPacket> packet(av_packet_alloc());
  if (context == nullptr || frame == nullptr || packet == nullptr) throw std::bad_alloc();
  context->width = frame->width = static_cast<int>(picture.width);
  context->height = frame->height = static_cast<int>(picture.height);
  context->pix_fmt = AV_PIX_FMT_RGB24;
  frame->format = AV_PIX_FMT_RGB24;
  context->time_base = {1, 1};
  check(avcodec_open2(context.get(), codec, nullptr));
  check(av_frame_get_buffer(frame.get(), 0));
  const int row = frame->width * 3;
  av_image_copy_plane(frame->data[0], frame->linesize[0], picture.pixels.data(), row, row, frame->height);
  check(avcodec_send_frame(context.get(), frame.get()));
  check(avcodec_send_frame(context.get(), nullptr));
  check(avcodec_receive_packet(context.get(), packet.get()));
  return {reinterpret_cast<const char*>(packet->data), static_cast<std::size_t>(packet->size)};
}

}  // namespace lerobot::data
