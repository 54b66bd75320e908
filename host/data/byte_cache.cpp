#include "host/data/byte_cache.h"

namespace lerobot::data {

std::shared_ptr<const void> ByteCache::get(std::uint64_t key, const std::function<Value()>& make) {
  if (auto found = find(key)) return found;
  const Value value = make();
  insert(key, value);
  return value.data;
}

std::size_t ByteCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::shared_ptr<const void> ByteCache::find(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->value.data;
}

void ByteCache::insert(std::uint64_t key, const Value& value) {
  const std::lock_guard lock(mutex_);
  if (value.bytes > limit_ || by_key_.contains(key)) return;
  while (bytes_ + value.bytes > limit_) {
    bytes_ -= entries_.back().value.bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({key, value});
  by_key_[key] = entries_.begin();
  bytes_ += value.bytes;
}

}  // namespace lerobot::data
