#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/checkpoint/pickle.h"

namespace lerobot::checkpoint::pickle {

/// Writes one dict as torch.save pickles it, byte for byte (protocol 2): texts to numbers, booleans and lists of
/// tensors. Only what torch.load(weights_only=True) accepts.
class DictWriter {
 public:
  DictWriter();

  void add(std::string_view key, double value);
  void add(std::string_view key, std::int64_t value);
  void add(std::string_view key, bool value);
  void add(std::string_view key, const std::vector<Tensor>& tensors);
  /// The pickle. Nothing can be added after it.
  std::string finish();

 private:
  void opcode(char code) { out_ += code; }
  void text(std::string_view value);
  void integer(std::int64_t value);
  void tuple(const std::vector<std::int64_t>& values);
  void tensor(const Tensor& tensor);
  void storage(const Storage& storage);
  /// Python's pickler numbers what it has written, and refers to it when the same object comes again.
  void memorize();
  bool recall(const std::string& object);
  void shared_text(const std::string& value);
  void global(const std::string& module, const std::string& name);

  std::string out_;
  std::uint32_t memorized_ = 0;
  std::map<std::string, std::uint32_t> shared_;  // by the opcodes that write the object
};

}  // namespace lerobot::checkpoint::pickle
