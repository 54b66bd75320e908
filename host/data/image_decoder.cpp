#include "host/data/image_decoder.h"

#include <cstring>

#include "host/base/error.h"
#include "host/data/ffmpeg.h"
#include "host/data/pixels.h"
#include "host/data/planar.h"
#include "host/data/png_file.h"

namespace lerobot::data {
namespace {

bool starts_with(const std::vector<std::byte>& file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

FfmpegPtr<AVFrame> decode(const std::vector<std::byte>& file, const std::string& source) {
  const FfmpegPtr<AVCodecContext> decoder = open_decoder(AV_CODEC_ID_MJPEG, nullptr, source);
  const FfmpegPtr<AVPacket> packet(av_packet_alloc());
  FfmpegPtr<AVFrame> frame(av_frame_alloc());
  int code = packet == nullptr || frame == nullptr ? AVERROR(ENOMEM)
                                                   : av_new_packet(packet.get(), static_cast<int>(file.size()));
  if (code >= 0) {
    std::memcpy(packet->data, file.data(), file.size());
    code = avcodec_send_packet(decoder.get(), packet.get());
  }
  if (code >= 0) code = avcodec_send_packet(decoder.get(), nullptr);
  if (code >= 0) code = avcodec_receive_frame(decoder.get(), frame.get());
  if (code < 0 || frame->decode_error_flags != 0) {
    fail(ErrorKind::kData, "{}: the image ({} bytes) is damaged ({}).", source, file.size(), ffmpeg_error(code));
  }
  return frame;
}

Buffer decode_jpeg(const std::vector<std::byte>& file, const std::string& source) {
  const FfmpegPtr<AVFrame> frame = decode(file, source);
  const auto format = static_cast<AVPixelFormat>(frame->format);
  switch (format) {
    case AV_PIX_FMT_GRAY8:
      return planar(frame->data[0], frame->linesize[0], frame->height, frame->width, 1);
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P: {
      BufferPool no_pool(0);
      return PixelConverter().to_rgb(*frame, source, no_pool);
    }
    default:
      fail(ErrorKind::kData, "{}: a JPEG of pixel format {} is not supported, needed RGB or grey.", source,
           av_get_pix_fmt_name(format) == nullptr ? "unknown" : av_get_pix_fmt_name(format));
  }
}

}  // namespace

Buffer decode_image(const std::vector<std::byte>& file, const std::string& source) {
  if (file.empty()) fail(ErrorKind::kData, "{}: there is no image.", source);
  if (starts_with(file, "\x89PNG")) return decode_png(file, source);
  if (starts_with(file, "\xff\xd8\xff")) return decode_jpeg(file, source);
  fail(ErrorKind::kData, "{}: the image ({} bytes) is neither PNG nor JPEG.", source, file.size());
}

}  // namespace lerobot::data
