#include "host/base/safetensors.h"

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <cstring>
#include <limits>

#include "host/base/json.h"

namespace lerobot {
namespace {

constexpr std::uint64_t kHeaderLimit = 100'000'000;  // as the reference reader's

struct TypeRow {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeRow, 10> kTypes{{{DType::kBool, "BOOL", 1},
                                          {DType::kUInt8, "U8", 1},
                                          {DType::kInt8, "I8", 1},
                                          {DType::kInt16, "I16", 2},
                                          {DType::kFloat16, "F16", 2},
                                          {DType::kBFloat16, "BF16", 2},
                                          {DType::kInt32, "I32", 4},
                                          {DType::kFloat32, "F32", 4},
                                          {DType::kFloat64, "F64", 8},
                                          {DType::kInt64, "I64", 8}}};

const TypeRow& row(DType dtype) {
  return kTypes[static_cast<std::size_t>(dtype)];
}

/// Reads the header of one file; every complaint names the file.
class HeaderReader {
 public:
  HeaderReader(const std::filesystem::path& path, ErrorKind kind, const MappedFile& file)
      : path_(path.string()), kind_(kind), file_(file) {}

  void read(OrderedMap<TensorView>& tensors, OrderedMap<std::string>& metadata) {
    const boost::json::value header = parse_header();
    const auto* object = header.if_object();
    if (!object) complain("the header is not a JSON object");
    for (const auto& [key, value] : *object) {
      if (key == "__metadata__") {
        read_metadata(value, metadata);
      } else {
        tensors.append(std::string(key), read_tensor(std::string(key), value));
      }
    }
    check_layout(tensors);
  }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    fail(kind_, "{}: not a whole safetensors file: {}", path_, what);
  }

  boost::json::value parse_header() {
    if (file_.size() < 8) complain(format("{} bytes, at least 8 are needed", file_.size()));
    std::uint64_t length = 0;
    std::memcpy(&length, file_.data(), 8);
    if (length > kHeaderLimit) complain(format("header length {} exceeds the limit of {}", length, kHeaderLimit));
    if (length > file_.size() - 8) {
      complain(format("the header should hold {} bytes, the file has {} after its length (truncated?)", length,
                      file_.size() - 8));
    }
    data_begin_ = 8 + length;
    const std::string_view text(reinterpret_cast<const char*>(file_.data()) + 8, length);
    return json::parse(text, path_ + " (header)", kind_);
  }

  void read_metadata(const boost::json::value& value, OrderedMap<std::string>& metadata) const {
    const auto* object = value.if_object();
    if (!object) complain("__metadata__ is not an object");
    for (const auto& [key, text] : *object) {
      if (!text.is_string()) complain(format("__metadata__.{} is not a string", std::string_view(key)));
      metadata[key] = std::string(std::string_view(text.get_string()));
    }
  }

  TensorView read_tensor(const std::string& name, const boost::json::value& value) const {
    const auto* entry = value.if_object();
    const auto* dtype = entry ? entry->if_contains("dtype") : nullptr;
    const auto* shape = entry ? entry->if_contains("shape") : nullptr;
    const auto* offsets = entry ? entry->if_contains("data_offsets") : nullptr;
    if (!dtype || !dtype->is_string() || !shape || !shape->is_array() || !offsets || !offsets->is_array() ||
        offsets->get_array().size() != 2) {
      complain(format("tensor {} lacks dtype, shape or data_offsets", name));
    }
    TensorView view;
    const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const TypeRow& r) { return r.name == std::string_view(dtype->get_string()); });
    if (type == kTypes.end()) {
      complain(format("tensor {} has the unknown dtype {}", name, std::string_view(dtype->get_string())));
    }
    view.dtype = type->dtype;
    std::uint64_t bytes = type->bytes;
    bool empty = false;
    for (const auto& extent : shape->get_array()) {
      const std::uint64_t size = natural(extent, name);
      // Also beside an extent of 0 the others must stay in range: strides are their products.
      if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / bytes) {
        complain(format("tensor {} is larger than memory can be", name));
      }
      if (size == 0) empty = true;
      bytes *= std::max<std::uint64_t>(size, 1);
      view.shape.push_back(static_cast<std::int64_t>(size));
    }
    if (empty) bytes = 0;
    const std::uint64_t begin = natural(offsets->get_array()[0], name);
    const std::uint64_t end = natural(offsets->get_array()[1], name);
    const std::uint64_t available = file_.size() - data_begin_;
    if (begin > end || end > available) {
      complain(format("tensor {} lies at bytes {} to {}, the file holds {} (truncated?)", name, begin, end, available));
    }
    if (end - begin != bytes) complain(format("tensor {} has {} bytes, its shape needs {}", name, end - begin, bytes));
    view.data = file_.data() + data_begin_ + begin;
    view.bytes = static_cast<std::size_t>(bytes);
    return view;
  }

  std::uint64_t natural(const boost::json::value& value, const std::string& name) const {
    if (value.is_int64() && value.get_int64() >= 0) return static_cast<std::uint64_t>(value.get_int64());
    if (value.is_uint64()) return value.get_uint64();
    complain(format("tensor {} has a size or offset that is not a natural number", name));
  }

  void check_layout(const OrderedMap<TensorView>& tensors) const {
    std::vector<std::pair<const std::byte*, const std::byte*>> spans;
    for (const auto& [name, view] : tensors) spans.emplace_back(view.data, view.data + view.bytes);
    std::sort(spans.begin(), spans.end());
    const std::byte* at = file_.data() + data_begin_;
    for (const auto& [begin, end] : spans) {
      if (begin != at) complain("tensors overlap or leave gaps");
      at = end;
    }
    if (at != file_.data() + file_.size()) {
      complain(format("{} bytes after the last tensor", static_cast<std::int64_t>(file_.data() + file_.size() - at)));
    }
  }

  std::string path_;
  ErrorKind kind_;
  const MappedFile& file_;
  std::uint64_t data_begin_ = 0;
};

std::string header_json(const std::vector<const OrderedMap<TensorView>::Entry*>& order,
                        const OrderedMap<std::string>& metadata) {
  boost::json::object header;
  if (!metadata.empty()) {
    boost::json::object entries;
    for (const auto& [key, value] : metadata) entries[key] = value;
    header["__metadata__"] = std::move(entries);
  }
  std::uint64_t offset = 0;
  for (const auto* entry : order) {
    const TensorView& view = entry->second;
    boost::json::array shape;
    for (const std::int64_t extent : view.shape) shape.emplace_back(extent);
    header[entry->first] = boost::json::object{{"dtype", boost::json::string(safetensors_name(view.dtype))},
                                               {"shape", std::move(shape)},
                                               {"data_offsets", boost::json::array{offset, offset + view.bytes}}};
    offset += view.bytes;
  }
  std::string text = json::write_line(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

std::size_t item_size(DType dtype) {
  return row(dtype).bytes;
}

std::string_view safetensors_name(DType dtype) {
  return row(dtype).name;
}

std::int64_t TensorView::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;  // checked when the header was read
  return count;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path, ErrorKind kind)
    : path_(path), kind_(kind), file_(std::make_shared<MappedFile>(path, kind)) {
  HeaderReader(path, kind, *file_).read(tensors_, metadata_);
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  const TensorView* view = tensors_.find(name);
  if (!view) fail(kind_, "{}: holds no tensor named {}", path_.string(), name);
  return *view;
}

void write_safetensors(const std::filesystem::path& path, const OrderedMap<TensorView>& tensors,
                       const OrderedMap<std::string>& metadata) {
  DurableFile file(path, kSafetensorsMode);
  write_safetensors(file, tensors, metadata);
  file.finish();
}

void write_safetensors(DurableFile& file, const OrderedMap<TensorView>& tensors,
                       const OrderedMap<std::string>& metadata) {
  std::vector<const OrderedMap<TensorView>::Entry*> order;
  for (const auto& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.dtype != b->second.dtype ? a->second.dtype > b->second.dtype : a->first < b->first;
  });
  const std::string header = header_json(order, metadata);
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto* entry : order) file.write(entry->second.data, entry->second.bytes);
}

}  // namespace lerobot
