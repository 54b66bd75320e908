#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "host/data/video_decoder.h"

namespace lerobot::data {

/// Open decoders kept for their next use, at most kMaxIdle of them, least recently used first out. A decoder is taken
/// out for each use, so that only one thread has it; one that failed is closed.
class DecoderPool {
 public:
  static constexpr std::size_t kMaxIdle = 32;

  explicit DecoderPool(std::filesystem::path root) : root_(std::move(root)) {}

  /// VideoDecoder::nearest on the file.
  VideoFrame nearest(const std::string& relative_path, double seconds);

 private:
  struct Entry {
    std::string path;
    std::unique_ptr<VideoDecoder> decoder;
  };

  std::unique_ptr<VideoDecoder> take(const std::string& relative_path);
  void put_back(const std::string& relative_path, std::unique_ptr<VideoDecoder> decoder);

  static constexpr std::size_t kIdleFrameBytes = std::size_t{16} << 20;

  std::filesystem::path root_;
  BufferPool frames_{kIdleFrameBytes};
  std::mutex mutex_;
  std::list<Entry> idle_;  ///< the most recently used first
};

}  // namespace lerobot::data
