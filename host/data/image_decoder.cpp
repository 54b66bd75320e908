#include "host/data/image_decoder.h"

#include <cstring>

#include "host/base/error.h"
#include "host/data/ffmpeg.h"
#include "host/data/pixels.h"

namespace lerobot::data {
namespace {

bool starts_with(const std::vector<std::byte>& file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

AVCodecID codec_of(const std::vector<std::byte>& file, const std::string& source) {
  if (file.empty()) fail(ErrorKind::kData, "{}: there is no image.", source);
  if (starts_with(file, "\x89PNG")) return AV_CODEC_ID_PNG;
  if (starts_with(file, "\xff\xd8\xff")) return AV_CODEC_ID_MJPEG;
  fail(ErrorKind::kData, "{}: the image ({} bytes) is neither PNG nor JPEG.", source, file.size());
}

FfmpegPtr<AVFrame> decode(const std::vector<std::byte>& file, const std::string& source) {
  const FfmpegPtr<AVCodecContext> decoder = open_decoder(codec_of(file, source), nullptr, source);
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

/// PNG's 16-bit grey is big-endian.
Buffer grey16(const AVFrame& frame) {
  Buffer result = make_buffer(DType::kFloat32, {1, frame.height, frame.width});
  float* out = elements_of<float>(result);
  for (int y = 0; y < frame.height; ++y) {
    const std::uint8_t* in = frame.data[0] + static_cast<std::ptrdiff_t>(y) * frame.linesize[0];
    for (int x = 0; x < frame.width; ++x, in += 2) *out++ = static_cast<float>(in[0] << 8 | in[1]);
  }
  return result;
}

}  // namespace

Buffer decode_image(const std::vector<std::byte>& file, const std::string& source) {
  const FfmpegPtr<AVFrame> frame = decode(file, source);
  const auto format = static_cast<AVPixelFormat>(frame->format);
  switch (format) {
    case AV_PIX_FMT_RGB24:
      return planar(frame->data[0], frame->linesize[0], frame->height, frame->width, 3);
    case AV_PIX_FMT_RGBA:
      return planar(frame->data[0], frame->linesize[0], frame->height, frame->width, 4);
    case AV_PIX_FMT_GRAY8:
      return planar(frame->data[0], frame->linesize[0], frame->height, frame->width, 1);
    case AV_PIX_FMT_GRAY16BE:
      return grey16(*frame);
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P: {
      BufferPool no_pool(0);
      return PixelConverter().to_rgb(*frame, source, no_pool);
    }
    default:
      fail(ErrorKind::kData,
           "{}: an image of pixel format {} is not supported, needed 8-bit RGB, RGBA or grey, or 16-bit grey.", source,
           av_get_pix_fmt_name(format) == nullptr ? "unknown" : av_get_pix_fmt_name(format));
  }
}

}  // namespace lerobot::data
