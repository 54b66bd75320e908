#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lerobot {

/// A small map that keeps the order of insertion, as Python's dict does. Look-up is linear.
template <class Value>
class OrderedMap {
 public:
  using Entry = std::pair<std::string, Value>;
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  OrderedMap() = default;
  OrderedMap(std::initializer_list<Entry> entries) : entries_(entries) {}

  Value* find(std::string_view key) {
    const auto at = position(key);
    return at == entries_.end() ? nullptr : &entries_[static_cast<std::size_t>(at - entries_.begin())].second;
  }
  const Value* find(std::string_view key) const {
    const auto at = position(key);
    return at == entries_.end() ? nullptr : &at->second;
  }
  bool contains(std::string_view key) const { return find(key) != nullptr; }

  /// The value of `key`; a default one is appended if there is none.
  Value& operator[](std::string_view key) {
    if (Value* value = find(key)) return *value;
    return entries_.emplace_back(std::string(key), Value{}).second;
  }

  /// Appends without looking for the key: for callers that know it is new.
  void append(std::string key, Value value) { entries_.emplace_back(std::move(key), std::move(value)); }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  bool operator==(const OrderedMap&) const = default;

 private:
  const_iterator position(std::string_view key) const {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.first == key; });
  }

  std::vector<Entry> entries_;
};

}  // namespace lerobot
