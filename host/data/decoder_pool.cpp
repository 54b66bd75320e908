#include "host/data/decoder_pool.h"

#include <algorithm>

namespace lerobot::data {

VideoFrame DecoderPool::nearest(const std::string& relative_path, double seconds) {
  std::unique_ptr<VideoDecoder> decoder = take(relative_path);
  VideoFrame frame = decoder->nearest(seconds, frames_);
  put_back(relative_path, std::move(decoder));
  return frame;
}

std::unique_ptr<VideoDecoder> DecoderPool::take(const std::string& relative_path) {
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(idle_.begin(), idle_.end(), [&](const Entry& entry) { return entry.path == relative_path; });
    if (found != idle_.end()) {
      std::unique_ptr<VideoDecoder> decoder = std::move(found->decoder);
      idle_.erase(found);
      return decoder;
    }
  }
  return std::make_unique<VideoDecoder>(root_, relative_path);
}

void DecoderPool::put_back(const std::string& relative_path, std::unique_ptr<VideoDecoder> decoder) {
  std::list<Entry> surplus;  // Closed after the lock is released.
  const std::lock_guard lock(mutex_);
  idle_.push_front({relative_path, std::move(decoder)});
  if (idle_.size() > kMaxIdle) surplus.splice(surplus.begin(), idle_, std::prev(idle_.end()));
}

}  // namespace lerobot::data
