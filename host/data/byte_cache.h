#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace lerobot::data {

/// A cache of values by number, least recently used first out, held under a limit in bytes. All threads share it.
class ByteCache {
 public:
  struct Value {
    std::shared_ptr<const void> data;
    std::size_t bytes = 0;
  };

  explicit ByteCache(std::size_t limit) : limit_(limit) {}

  /// The value of `key`; `make` is called, outside the lock, when there is none. A value above the limit is not kept.
  std::shared_ptr<const void> get(std::uint64_t key, const std::function<Value()>& make);

  /// The value of `key`, or null.
  std::shared_ptr<const void> find(std::uint64_t key);
  /// Keeps the value, unless it is above the limit or there is one already.
  void insert(std::uint64_t key, const Value& value);

  std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t key;
    Value value;
  };

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  ///< the most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_key_;
};

}  // namespace lerobot::data
