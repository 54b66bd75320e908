#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "host/base/file.h"
#include "host/base/ordered_map.h"
#include "host/checkpoint/pickle.h"

namespace lerobot::checkpoint {

/// What to do about a file that is not read, where nothing better is known.
inline constexpr std::string_view kSaveStateDict =
    "Only a plain dict of tensors is read: save it again with torch.save(model.state_dict(), path), or as "
    ".safetensors.";

/// A memory-mapped file that torch.save made of a dict (`.pth`, `.pt`), in its zip format or in the one before torch
/// 1.6. Any byte string gives values or an Error(kCheckpoint), which ends with `cure`.
class PthFile {
 public:
  explicit PthFile(const std::filesystem::path& path, std::string_view cure = kSaveStateDict);

  const std::string& name() const { return name_; }
  /// The entries of the dict; their keys are text, each once.
  const OrderedMap<pickle::Ref>& entries() const { return entries_; }
  const pickle::Value& value(pickle::Ref ref) const { return document_.values[ref]; }
  /// The entries, all of which must be tensors.
  OrderedMap<pickle::Tensor> tensors() const;
  /// The bytes of a tensor's storage, not necessarily aligned. Throws when the file does not hold them all; `name` is
  /// the tensor's.
  Bytes storage(const pickle::Tensor& tensor, std::string_view name) const;

 private:
  void read_zip();
  void read_legacy();
  void read_entries();

  std::string name_;
  std::string_view cure_;
  MappedFile file_;
  pickle::Document document_;
  OrderedMap<pickle::Ref> entries_;
  std::map<std::string, Bytes, std::less<>> storages_;  // by key
};

}  // namespace lerobot::checkpoint
