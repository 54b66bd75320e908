#include "host/data/ffmpeg.h"

#include <mutex>
#include <vector>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/data/video_decoder.h"

namespace lerobot::data {
namespace {

const AVCodec* find_decoder(AVCodecID codec, const std::string& source) {
  if (codec != AV_CODEC_ID_AV1) {
    const AVCodec* decoder = avcodec_find_decoder(codec);
    if (decoder == nullptr) {
      fail(ErrorKind::kData,
           "{}: this FFmpeg ({}) has no decoder for {}. Install one that has (Debian: libavcodec-extra).", source,
           av_version_info(), avcodec_get_name(codec));
    }
    return decoder;
  }
  const std::vector<std::string> names = {"libdav1d", "libaom-av1"};
  for (const std::string& name : names) {
    const AVCodec* decoder = avcodec_find_decoder_by_name(name.c_str());
    if (decoder != nullptr && av_codec_is_decoder(decoder)) return decoder;
  }
  fail(ErrorKind::kData,
       "{}: this FFmpeg ({}) has no software decoder for av1 (looked for {}). Install one built with libdav1d (Debian: "
       "libavcodec59).",
       source, av_version_info(), join(names, ", "));
}

}  // namespace

void load_ffmpeg() {
  ffmpeg();
}

void silence_ffmpeg() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_level(AV_LOG_QUIET); });
}

std::string ffmpeg_error(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof(text));
  return text;
}

FfmpegPtr<AVCodecContext> open_decoder(AVCodecID codec, const AVCodecParameters* parameters,
                                       const std::string& source) {
  silence_ffmpeg();
  const AVCodec* decoder = find_decoder(codec, source);
  FfmpegPtr<AVCodecContext> context(avcodec_alloc_context3(decoder));
  int code = context == nullptr ? AVERROR(ENOMEM) : 0;
  if (code >= 0 && parameters != nullptr) code = avcodec_parameters_to_context(context.get(), parameters);
  if (code >= 0) {
    context->thread_count = 1;  // The loader's threads are the parallelism.
    code = avcodec_open2(context.get(), decoder, nullptr);
  }
  if (code < 0)
    fail(ErrorKind::kData, "{}: decoder {} cannot be opened ({}).", source, decoder->name, ffmpeg_error(code));
  return context;
}

}  // namespace lerobot::data
