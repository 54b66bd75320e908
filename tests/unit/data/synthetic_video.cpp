#include "tests/unit/data/synthetic_video.h"

#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

#include "host/data/ffmpeg.h"

namespace lerobot::data {
namespace {

constexpr int kLevels = 50, kLevelStep = 4, kDarkest = 20;

void require(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + " failed");
}

FfmpegPtr<AVCodecContext> open_encoder(const AVCodec* codec, const GreyVideo& video, bool global_header) {
  FfmpegPtr<AVCodecContext> context(avcodec_alloc_context3(codec));
  context->width = video.width;
  context->height = video.height;
  context->pix_fmt = AV_PIX_FMT_YUV420P;
  context->time_base = {video.fps_divisor, video.fps};
  context->framerate = {video.fps, video.fps_divisor};
  context->gop_size = 2;
  context->max_b_frames = 0;
  context->flags |= AV_CODEC_FLAG_QSCALE | (global_header ? AV_CODEC_FLAG_GLOBAL_HEADER : 0);
  context->global_quality = FF_QP2LAMBDA;
  AVDictionary* options = nullptr;
  require(av_dict_parse_string(&options, video.options.c_str(), "=", ":", 0) >= 0, "parsing options");
  const int code = avcodec_open2(context.get(), codec, &options);
  av_dict_free(&options);
  require(code >= 0, "opening " + video.encoder);
  return context;
}

/// A container with one stream, written packet by packet.
class Muxer {
 public:
  Muxer(const std::filesystem::path& file, bool seekable) {
    AVFormatContext* made = nullptr;
    require(avformat_alloc_output_context2(&made, nullptr, nullptr, file.c_str()) >= 0, "making a container");
    format_ = made;
    require(avio_open(&format_->pb, file.c_str(), AVIO_FLAG_WRITE) >= 0, "opening " + file.string());
    if (!seekable) format_->pb->seekable = 0;
  }
  ~Muxer() {
    avio_closep(&format_->pb);
    avformat_free_context(format_);
  }
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  bool wants_global_header() const { return (format_->oformat->flags & AVFMT_GLOBALHEADER) != 0; }
  void begin(const AVCodecContext& encoder) {
    stream_ = avformat_new_stream(format_, nullptr);
    require(avcodec_parameters_from_context(stream_->codecpar, &encoder) >= 0, "describing the stream");
    stream_->time_base = encoder.time_base;
    stream_->avg_frame_rate = encoder.framerate;
    require(avformat_write_header(format_, nullptr) >= 0, "writing the header");
  }
  void write(AVPacket* packet, const AVCodecContext& encoder) {
    if (packet->duration == 0) packet->duration = 1;
    av_packet_rescale_ts(packet, encoder.time_base, stream_->time_base);
    packet->stream_index = stream_->index;
    require(av_interleaved_write_frame(format_, packet) >= 0, "writing a packet");
  }
  void finish() { require(av_write_trailer(format_) >= 0, "writing the trailer"); }

 private:
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
};

void fill(AVFrame& frame, int luma) {
  for (int plane = 0; plane < 3; ++plane) {
    const int rows = plane == 0 ? frame.height : (frame.height + 1) / 2;
    std::memset(frame.data[plane], plane == 0 ? luma : 128, static_cast<std::size_t>(frame.linesize[plane] * rows));
  }
}

}  // namespace

bool write_grey_video(const std::filesystem::path& file, const GreyVideo& video, bool seekable) {
  const AVCodec* codec = avcodec_find_encoder_by_name(video.encoder.c_str());
  if (codec == nullptr) return false;
  std::filesystem::create_directories(file.parent_path());
  Muxer muxer(file, seekable);
  const auto encoder = open_encoder(codec, video, muxer.wants_global_header());
  muxer.begin(*encoder);
  const FfmpegPtr<AVPacket> packet(av_packet_alloc());
  const auto drain = [&] {
    while (avcodec_receive_packet(encoder.get(), packet.get()) >= 0) muxer.write(packet.get(), *encoder);
  };
  for (std::int64_t i = 0; i < video.frames; ++i) {
    const FfmpegPtr<AVFrame> frame(av_frame_alloc());
    frame->width = video.width;
    frame->height = video.height;
    frame->format = AV_PIX_FMT_YUV420P;
    frame->quality = FF_QP2LAMBDA;
    frame->pts = video.time ? video.time(i) : i;
    require(av_frame_get_buffer(frame.get(), 0) >= 0, "making a picture");
    fill(*frame, kDarkest + kLevelStep * video.level(i));
    require(avcodec_send_frame(encoder.get(), frame.get()) >= 0, "encoding");
    drain();
  }
  require(avcodec_send_frame(encoder.get(), nullptr) >= 0, "encoding");
  drain();
  muxer.finish();
  return true;
}

int grey_level(const Buffer& pixels) {
  const std::int64_t middle = pixels.elements() / 6;  // of the first of three planes
  const double luma = 16 + elements_of<std::uint8_t>(pixels)[middle] * 219.0 / 255;
  return static_cast<int>(std::lround((luma - kDarkest) / kLevelStep));
}

int grey_level_of(std::int64_t episode, std::int64_t frame) {
  return static_cast<int>((frame + 7 * episode) % kLevels);
}

SyntheticCamera grey_camera(const std::string& key, int width, int height, int fps) {
  SyntheticCamera camera;
  camera.key = key;
  camera.info = R"({"dtype": "video", "shape": [)" + std::to_string(height) + ", " + std::to_string(width) +
                R"(, 3], "names": ["height", "width", "channels"]})";
  camera.write_video = [=](const std::filesystem::path& file, const std::vector<SyntheticEpisode>& episodes) {
    std::vector<int> levels;
    for (const SyntheticEpisode& episode : episodes) {
      for (std::int64_t i = 0; i < episode.length; ++i) levels.push_back(grey_level_of(episode.index, i));
    }
    GreyVideo video{.width = width, .height = height, .fps = fps};
    video.frames = std::ssize(levels);
    video.level = [&](std::int64_t frame) { return levels[static_cast<std::size_t>(frame)]; };
    require(write_grey_video(file, video), "encoding");
  };
  return camera;
}

std::vector<SyntheticEpisode> end_to_end(std::vector<SyntheticEpisode> episodes, double fps) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> frames;
  for (SyntheticEpisode& episode : episodes) {
    std::int64_t& before = frames[{episode.chunk, episode.file}];
    episode.video_from = static_cast<double>(before) / fps;
    before += episode.length;
    episode.video_to = static_cast<double>(before) / fps;
  }
  return episodes;
}

}  // namespace lerobot::data
