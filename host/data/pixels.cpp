#include "host/data/pixels.h"

#include "host/base/error.h"
#include "host/data/planar.h"

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

SwsContext* PixelConverter::context_for(const AVFrame& frame, const std::string& source) {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  const bool full_range = frame.color_range == AVCOL_RANGE_JPEG || plain_format(format) != format;
  const Setup setup{frame.width, frame.height, frame.format, frame.colorspace, full_range};
  if (context_ != nullptr && setup == setup_) return context_.get();
  context_.reset(sws_getContext(frame.width, frame.height, plain_format(format), frame.width, frame.height,
                                AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr));
  if (context_ == nullptr) {
    fail(ErrorKind::kData, "{}: pixel format {} cannot be converted to RGB.", source,
         av_get_pix_fmt_name(format) == nullptr ? "unknown" : av_get_pix_fmt_name(format));
  }
  // Fails for formats that are not YUV, which need no coefficients.
  sws_setColorspaceDetails(context_.get(), sws_getCoefficients(frame.colorspace), full_range ? 1 : 0,
                           sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
  setup_ = setup;
  return context_.get();
}

Buffer PixelConverter::to_rgb(const AVFrame& frame, const std::string& source, BufferPool& pool) {
  SwsContext* context = context_for(frame, source);
  // A stride that is a multiple of 64 lets swscale write whole vectors.
  const int stride = (frame.width * 3 + 63) / 64 * 64;
  interleaved_.resize(static_cast<std::size_t>(stride) * static_cast<std::size_t>(frame.height) + 64);
  std::uint8_t* planes[] = {interleaved_.data(), nullptr, nullptr, nullptr};
  const int strides[] = {stride, 0, 0, 0};
  const int rows = sws_scale(context, frame.data, frame.linesize, 0, frame.height, planes, strides);
  if (rows != frame.height) fail(ErrorKind::kData, "{}: conversion to RGB failed.", source);
  Buffer result = pool.take(DType::kUInt8, {3, frame.height, frame.width});
  split_rgb(interleaved_.data(), stride, frame.height, frame.width, elements_of<std::uint8_t>(result));
  return result;
}

}  // namespace lerobot::data
