#pragma once

// Private to the sources that use FFmpeg. Its libraries are loaded at the first call, so that a run on a dataset
// without videos and JPEG images needs none of them. The names below hide FFmpeg's own inside this namespace: code
// reads as if it were linked.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace lerobot::data {

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): a list of names that becomes members, look-ups
// and functions.
#define LEROBOT_FFMPEG_FUNCTIONS(F)             \
  F(avutil, av_frame_alloc)                     \
  F(avutil, av_frame_free)                      \
  F(avutil, av_frame_unref)                     \
  F(avutil, av_get_pix_fmt_name)                \
  F(avutil, av_log_set_level)                   \
  F(avutil, av_strerror)                        \
  F(avutil, av_version_info)                    \
  F(avcodec, av_codec_is_decoder)               \
  F(avcodec, av_new_packet)                     \
  F(avcodec, av_packet_alloc)                   \
  F(avcodec, av_packet_free)                    \
  F(avcodec, av_packet_unref)                   \
  F(avcodec, avcodec_alloc_context3)            \
  F(avcodec, avcodec_find_decoder)              \
  F(avcodec, avcodec_find_decoder_by_name)      \
  F(avcodec, avcodec_flush_buffers)             \
  F(avcodec, avcodec_free_context)              \
  F(avcodec, avcodec_get_name)                  \
  F(avcodec, avcodec_open2)                     \
  F(avcodec, avcodec_parameters_to_context)     \
  F(avcodec, avcodec_receive_frame)             \
  F(avcodec, avcodec_send_packet)               \
  F(avformat, av_find_best_stream)              \
  F(avformat, av_index_search_timestamp)        \
  F(avformat, av_read_frame)                    \
  F(avformat, av_seek_frame)                    \
  F(avformat, avformat_close_input)             \
  F(avformat, avformat_find_stream_info)        \
  F(avformat, avformat_index_get_entries_count) \
  F(avformat, avformat_index_get_entry)         \
  F(avformat, avformat_open_input)              \
  F(avformat, avformat_seek_file)               \
  F(swscale, sws_freeContext)                   \
  F(swscale, sws_getCoefficients)               \
  F(swscale, sws_getContext)                    \
  F(swscale, sws_scale)                         \
  F(swscale, sws_setColorspaceDetails)

/// FFmpeg's functions as the loaded libraries have them.
struct FfmpegFunctions {
#define LEROBOT_MEMBER(library, name) decltype(&::name) name;
  LEROBOT_FFMPEG_FUNCTIONS(LEROBOT_MEMBER)
#undef LEROBOT_MEMBER
};

/// Loads the libraries at the first call: those of the major versions that this was compiled for, whose structs it
/// knows. Throws Error(kData) naming the library that is not there, the version needed and where it was looked for.
const FfmpegFunctions& ffmpeg();

template <class R, class... Args>
class FfmpegFunction {
 public:
  using Member = R (*FfmpegFunctions::*)(Args...);
  constexpr explicit FfmpegFunction(Member member) : member_(member) {}
  R operator()(Args... args) const { return (ffmpeg().*member_)(args...); }

 private:
  Member member_;
};
template <class R, class... Args>
FfmpegFunction(R (*FfmpegFunctions::*)(Args...)) -> FfmpegFunction<R, Args...>;

#define LEROBOT_CALL(library, name) inline constexpr FfmpegFunction name(&FfmpegFunctions::name);
LEROBOT_FFMPEG_FUNCTIONS(LEROBOT_CALL)
#undef LEROBOT_CALL
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)

}  // namespace lerobot::data
