#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/base/safetensors.h"
#include "host/checkpoint/zip_archive.h"

namespace lerobot::checkpoint::pickle {

/// Index of a value in Document::values: containers name their items by it, so that sharing and cycles need no care.
using Ref = std::uint32_t;

struct None {};
struct Mark {};
struct Global {
  std::string name;  ///< module.name
};
struct Tuple {
  std::vector<Ref> items;
};
struct List {
  std::vector<Ref> items;
};
struct Dict {  ///< also a collections.OrderedDict
  std::vector<std::pair<Ref, Ref>> items;
};
/// The memory behind tensors: `elements` of `dtype`, stored under `key`.
struct Storage {
  DType dtype;
  std::string key;
  std::int64_t elements;
};
/// A tensor: a strided view, in elements, of a storage. Checked to lie inside it.
struct Tensor {
  Storage storage;
  std::int64_t offset;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};
using Value =
    std::variant<None, Mark, bool, std::int64_t, double, std::string, Global, Tuple, List, Dict, Storage, Tensor>;

struct Document {
  std::deque<Value> values;
  Ref root = 0;
  std::size_t size = 0;  ///< bytes that the pickle takes
};

/// The class in torch whose objects are storages of this type: "FloatStorage".
std::string_view storage_class(DType dtype);

/// Reads one pickle of the subset that torch.save writes for a dict of tensors: protocol 2, None, bool, int, float,
/// str, tuple, list, dict, OrderedDict, torch's storages by persistent id, and tensors through
/// torch._utils._rebuild_tensor_v2 and _rebuild_parameter. Nothing is executed. Anything else throws Error(kCheckpoint)
/// that begins with `name`, names the opcode or the global, and ends with `cure`. Limits: 64 MiB, two million values.
Document read(Bytes bytes, std::string_view name, std::string_view cure);

}  // namespace lerobot::checkpoint::pickle
