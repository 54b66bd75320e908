#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "host/base/file.h"
#include "host/base/ordered_map.h"
#include "host/checkpoint/pickle.h"

namespace lerobot::checkpoint {

/// A memory-mapped file that torch.save made of a dict of tensors (`.pth`, `.pt`), in its zip format or in the one
/// before torch 1.6. Any byte string gives tensors or an Error(kCheckpoint).
class PthFile {
 public:
  explicit PthFile(const std::filesystem::path& path);

  const OrderedMap<pickle::Tensor>& tensors() const { return tensors_; }
  /// The bytes of a tensor's storage, not necessarily aligned.
  Bytes storage(const pickle::Tensor& tensor) const;

 private:
  void read_zip();
  void read_legacy();
  void read_tensors(const pickle::Document& document);

  std::string name_;
  MappedFile file_;
  OrderedMap<pickle::Tensor> tensors_;
  std::map<std::string, Bytes, std::less<>> storages_;  // by key
};

}  // namespace lerobot::checkpoint
