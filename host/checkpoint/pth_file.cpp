#include "host/checkpoint/pth_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "host/base/error.h"

namespace lerobot::checkpoint {
namespace {

/// The pickle of torch's magic number, with which the older format begins.
constexpr std::array<unsigned char, 15> kLegacyMagic{0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                                     0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t needed_bytes(const pickle::Storage& storage) {
  const std::uint64_t size = item_size(storage.dtype);
  const auto elements = static_cast<std::uint64_t>(storage.elements);
  return elements > UINT64_MAX / size ? UINT64_MAX : elements * size;
}

/// The entry `key` of a dict; null if there is none.
const pickle::Value* find(const pickle::Document& document, std::string_view key) {
  const auto* dict = std::get_if<pickle::Dict>(&document.values[document.root]);
  if (!dict) return nullptr;
  for (const auto& [name, value] : dict->items) {
    const auto* text = std::get_if<std::string>(&document.values[name]);
    if (text && *text == key) return &document.values[value];
  }
  return nullptr;
}

}  // namespace

PthFile::PthFile(const std::filesystem::path& path, std::string_view cure)
    : name_(path.string()), cure_(cure), file_(path, ErrorKind::kCheckpoint) {
  const Bytes bytes(file_.data(), file_.size());
  if (is_zip(bytes)) {
    read_zip();
  } else if (bytes.size() >= kLegacyMagic.size() &&
             std::memcmp(bytes.data(), kLegacyMagic.data(), kLegacyMagic.size()) == 0) {
    read_legacy();
  } else {
    fail(ErrorKind::kCheckpoint, "{}: not a file of torch.save ({} bytes). Download or copy it again.", name_,
         bytes.size());
  }
  read_entries();
}

void PthFile::read_zip() {
  constexpr std::string_view kPickle = "/data.pkl";
  constexpr std::string_view kByteOrder = "/byteorder";
  const OrderedMap<Bytes> entries = read_stored_zip({file_.data(), file_.size()}, name_);
  const auto pickled =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first.ends_with(kPickle); });
  if (pickled == entries.end())
    fail(ErrorKind::kCheckpoint, "{}: a zip archive without data.pkl, not one of torch.save", name_);
  const std::string top = pickled->first.substr(0, pickled->first.size() - kPickle.size());
  const std::string data = top + "/data/";
  for (const auto& [entry, bytes] : entries) {
    if (entry.starts_with(data)) storages_.emplace(entry.substr(data.size()), bytes);
    if (entry == top + std::string(kByteOrder) && as_text(bytes) != "little") {
      fail(ErrorKind::kCheckpoint, "{}: its byte order is {}, little is needed", name_,
           as_text(bytes.first(std::min<std::size_t>(bytes.size(), 8))));
    }
  }
  document_ = pickle::read(pickled->second, name_, cure_);
}

/// Five pickles: magic number, protocol, facts about the system, the object, the keys of its storages; then for each
/// key the number of elements as 64 bits, and the elements.
void PthFile::read_legacy() {
  Bytes rest(file_.data(), file_.size());
  const auto next = [&] {
    pickle::Document document = pickle::read(rest, name_, cure_);
    rest = rest.subspan(document.size);
    return document;
  };
  rest = rest.subspan(kLegacyMagic.size());
  next();
  const pickle::Document system = next();
  const auto* little = find(system, "little_endian");
  if (!little || !std::holds_alternative<bool>(*little) || !std::get<bool>(*little)) {
    fail(ErrorKind::kCheckpoint, "{}: its byte order is not little-endian", name_);
  }
  document_ = next();
  std::map<std::string, std::uint64_t, std::less<>> sizes;
  for (const pickle::Value& value : document_.values) {
    if (const auto* storage = std::get_if<pickle::Storage>(&value))
      sizes.emplace(storage->key, item_size(storage->dtype));
  }
  const pickle::Document keys = next();
  const auto* list = std::get_if<pickle::List>(&keys.values[keys.root]);
  if (!list) fail(ErrorKind::kCheckpoint, "{}: holds no list of storages", name_);
  for (const pickle::Ref ref : list->items) {
    const auto* key = std::get_if<std::string>(&keys.values[ref]);
    const auto size = key ? sizes.find(*key) : sizes.end();
    std::uint64_t elements = 0;
    if (size == sizes.end() || rest.size() < sizeof elements) {
      fail(ErrorKind::kCheckpoint, "{}: its storages do not fit its tensors (truncated?)", name_);
    }
    std::memcpy(&elements, rest.data(), sizeof elements);
    rest = rest.subspan(sizeof elements);
    if (elements > rest.size() / size->second) {
      fail(ErrorKind::kCheckpoint, "{}: storage {} should hold {} elements, {} bytes are left (truncated?)", name_,
           *key, elements, rest.size());
    }
    storages_.emplace(*key, rest.first(elements * size->second));
    rest = rest.subspan(elements * size->second);
  }
}

void PthFile::read_entries() {
  const auto* dict = std::get_if<pickle::Dict>(&document_.values[document_.root]);
  if (!dict) fail(ErrorKind::kCheckpoint, "{}: its outermost object is not a dict. {}", name_, cure_);
  std::set<std::string_view> seen;
  for (const auto& [key, value] : dict->items) {
    const auto* name = std::get_if<std::string>(&document_.values[key]);
    if (!name) fail(ErrorKind::kCheckpoint, "{}: its dict has a key that is not text. {}", name_, cure_);
    if (!seen.insert(*name).second) fail(ErrorKind::kCheckpoint, "{}: {} stands twice in its dict", name_, *name);
    entries_.append(*name, value);
  }
}

OrderedMap<pickle::Tensor> PthFile::tensors() const {
  OrderedMap<pickle::Tensor> out;
  for (const auto& [name, ref] : entries_) {
    const auto* tensor = std::get_if<pickle::Tensor>(&value(ref));
    if (!tensor) fail(ErrorKind::kCheckpoint, "{}: {} is not a tensor. {}", name_, name, cure_);
    out.append(name, *tensor);
  }
  return out;
}

Bytes PthFile::storage(const pickle::Tensor& tensor, std::string_view name) const {
  const auto storage = storages_.find(tensor.storage.key);
  const std::uint64_t found = storage == storages_.end() ? 0 : storage->second.size();
  if (storage == storages_.end() || found != needed_bytes(tensor.storage)) {
    fail(ErrorKind::kCheckpoint, "{}: the storage of {} has {} bytes, {} are needed", name_, name, found,
         needed_bytes(tensor.storage));
  }
  return storage->second;
}

}  // namespace lerobot::checkpoint
