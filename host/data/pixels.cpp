#include "host/data/pixels.h"

#include <vector>

#include "host/base/error.h"

namespace lerobot::data {
namespace {

/// The deprecated full-range formats are their plain ones plus the range, and swscale warns about them.
AVPixelFormat plain_format(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    default:
      return format;
  }
}

}  // namespace

Buffer planar(const std::uint8_t* rows, int stride, int height, int width, int channels) {
  Buffer result = make_buffer(DType::kUInt8, {channels, height, width});
  auto* out = elements_of<std::uint8_t>(result);
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      const std::uint8_t* in = rows + static_cast<std::ptrdiff_t>(y) * stride + c;
      for (int x = 0; x < width; ++x, in += channels) *out++ = *in;
    }
  }
  return result;
}

Buffer PixelConverter::to_rgb(const AVFrame& frame, const std::string& source) {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  const bool full_range = frame.color_range == AVCOL_RANGE_JPEG || plain_format(format) != format;
  context_.reset(sws_getCachedContext(context_.release(), frame.width, frame.height, plain_format(format), frame.width,
                                      frame.height, AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr));
  if (context_ == nullptr) {
    fail(ErrorKind::kData, "{}: pixel format {} cannot be converted to RGB.", source,
         av_get_pix_fmt_name(format) == nullptr ? "unknown" : av_get_pix_fmt_name(format));
  }
  // Fails for formats that are not YUV, which need no coefficients.
  sws_setColorspaceDetails(context_.get(), sws_getCoefficients(frame.colorspace), full_range ? 1 : 0,
                           sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
  // A stride that is a multiple of 64 lets swscale write whole vectors.
  const int stride = (frame.width * 3 + 63) / 64 * 64;
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(stride) * static_cast<std::size_t>(frame.height) + 64);
  std::uint8_t* planes[] = {rgb.data(), nullptr, nullptr, nullptr};
  const int strides[] = {stride, 0, 0, 0};
  const int rows = sws_scale(context_.get(), frame.data, frame.linesize, 0, frame.height, planes, strides);
  if (rows != frame.height) fail(ErrorKind::kData, "{}: conversion to RGB failed.", source);
  return planar(rgb.data(), stride, frame.height, frame.width, 3);
}

}  // namespace lerobot::data
