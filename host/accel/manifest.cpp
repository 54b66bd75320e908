#include "host/accel/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace bj = boost::json;
namespace {

constexpr std::uintmax_t kMaxManifestBytes = 1 << 20;
constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxItems = 256;
constexpr std::int64_t kSchema = 1;

[[noreturn]] void refuse(std::string_view key, std::string_view problem) {
  fail(ErrorKind::kDevice, "manifest.json: {}: {}", key, problem);
}

/// [a-z0-9][a-z0-9_-]{0,62}: an id names a directory and stands in environment variables.
bool is_id(std::string_view text) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 63 && alphanumeric(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return alphanumeric(c) || c == '_' || c == '-'; });
}

/// Typed access to one object of the manifest, with the key in every message.
class Reader {
 public:
  Reader(const bj::value& value, std::string_view key) {
    if (!value.is_object()) refuse(key, "is not an object");
    object_ = &value.get_object();
  }

  const bj::value* find(std::string_view key) const {
    const bj::value* value = object_->if_contains(key);
    return value && !value->is_null() ? value : nullptr;
  }

  std::string text(std::string_view key) const {
    const bj::value* value = find(key);
    if (!value) refuse(key, "is missing");
    return checked_text(*value, key);
  }

  std::optional<std::string> optional_text(std::string_view key) const {
    const bj::value* value = find(key);
    if (!value) return std::nullopt;
    return checked_text(*value, key);
  }

  std::string path(std::string_view key) const { return checked_path(text(key), key); }

  std::optional<std::string> optional_path(std::string_view key) const {
    auto value = optional_text(key);
    if (value) checked_path(*value, key);
    return value;
  }

  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) const {
    const bj::value* value = find(key);
    if (!value || !value->is_int64()) refuse(key, "is missing or not a whole number");
    const std::int64_t number = value->get_int64();
    if (number < low || number > high) refuse(key, format("{} is not within {} and {}", number, low, high));
    return number;
  }

  /// Absent is false.
  bool boolean(std::string_view key) const {
    const bj::value* value = find(key);
    if (!value) return false;
    if (!value->is_bool()) refuse(key, "is neither true nor false");
    return value->get_bool();
  }

  std::vector<std::string> texts(std::string_view key) const {
    const bj::value* value = find(key);
    if (!value) return {};
    if (!value->is_array()) refuse(key, "is not a list");
    if (value->get_array().size() > kMaxItems) refuse(key, "has too many items");
    std::vector<std::string> out;
    for (const bj::value& item : value->get_array()) out.push_back(checked_text(item, key));
    return out;
  }

  const bj::object& object() const { return *object_; }

  static std::string checked_text(const bj::value& value, std::string_view key) {
    if (!value.is_string()) refuse(key, "is not a text");
    const bj::string& text = value.get_string();
    if (text.empty() || text.size() > kMaxText)
      refuse(key, format("has {} bytes, 1 to {} allowed", text.size(), kMaxText));
    // Control characters would let a manifest forge lines of a report or move a terminal's cursor.
    if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      refuse(key, "has a control character");
    }
    return std::string(text);
  }

  static std::string checked_path(std::string text, std::string_view key) {
    const fs::path path(text);
    if (path.is_absolute()) refuse(key, format("{} is absolute; paths are relative to the package", text));
    for (const fs::path& part : path) {
      if (part.empty() || part == "." || part == "..") refuse(key, format("{} leaves the package", text));
    }
    return text;
  }

 private:
  const bj::object* object_;
};

TorchSource read_torch(const Reader& manifest) {
  const bj::value* value = manifest.find("torch");
  if (!value) return {};
  const Reader torch(*value, "torch");
  if (torch.object().size() != 1) refuse("torch", "needs exactly one of directory, from, external");
  if (torch.find("directory")) return {TorchSource::Kind::kDirectory, torch.path("directory")};
  if (const auto from = torch.optional_text("from")) {
    if (!is_id(*from)) refuse("torch.from", "is not the id of a package");
    return {TorchSource::Kind::kPackage, *from};
  }
  const bj::value* external = torch.find("external");
  if (!external) refuse("torch", "needs one of directory, from, external");
  if (external->is_bool() && external->get_bool()) return {TorchSource::Kind::kExternal, ""};
  const std::string directory = Reader::checked_text(*external, "torch.external");
  if (!fs::path(directory).is_absolute()) refuse("torch.external", "is neither true nor an absolute path");
  return {TorchSource::Kind::kExternal, directory};
}

AbiRange read_abi(const Reader& manifest) {
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const bj::value* value = manifest.find("abi");
  if (!value) refuse("abi", "is missing");
  const Reader abi(*value, "abi");
  AbiRange range;
  range.major_min = static_cast<std::uint32_t>(abi.integer("major_min", 1, kMax));
  range.major_max = static_cast<std::uint32_t>(abi.integer("major_max", range.major_min, kMax));
  range.minor = static_cast<std::uint32_t>(abi.integer("minor", 0, kMax));
  return range;
}

std::vector<std::pair<std::string, std::string>> read_hashes(const Reader& manifest) {
  const bj::value* value = manifest.find("sha256");
  if (!value) return {};
  const Reader hashes(*value, "sha256");
  if (hashes.object().size() > kMaxItems) refuse("sha256", "has too many items");
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [file, hash] : hashes.object()) {
    const std::string name = Reader::checked_path(Reader::checked_text(bj::value(file), "sha256"), "sha256");
    const std::string digits = Reader::checked_text(hash, "sha256");
    const bool hex =
        std::ranges::all_of(digits, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (digits.size() != 64 || !hex) refuse("sha256", format("{}: not 64 lower-case hex digits", name));
    out.emplace_back(name, digits);
  }
  return out;
}

std::vector<std::string> read_device_types(const Reader& manifest) {
  std::vector<std::string> types = manifest.texts("device_types");
  for (const std::string& type : types) {
    const bool plain =
        std::ranges::all_of(type, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (!plain) refuse("device_types", format("{}: lower-case letters, digits and _ only", type));
  }
  return types;
}

/// Names of environment variables: what a message shows of the environment is chosen by the manifest, so nothing but
/// names like CUDA_VISIBLE_DEVICES is accepted.
std::vector<std::string> read_visible_devices(const Reader& manifest) {
  std::vector<std::string> names = manifest.texts("visible_devices");
  for (const std::string& name : names) {
    const bool plain =
        std::ranges::all_of(name, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
    const bool selects = name.ends_with("_DEVICES") || name.ends_with("_MASK") || name.ends_with("_SELECTOR");
    if (!plain || !selects) {
      refuse("visible_devices", format("{}: a name in capitals that ends with _DEVICES, _MASK or _SELECTOR", name));
    }
  }
  return names;
}

/// File names without a directory.
std::vector<std::string> read_torch_libraries(const Reader& manifest) {
  std::vector<std::string> names = manifest.texts("torch_libraries");
  for (const std::string& name : names) {
    Reader::checked_path(name, "torch_libraries");
    if (name.find('/') != std::string::npos) refuse("torch_libraries", format("{}: a file name without /", name));
  }
  return names;
}

void read_plugin_part(const Reader& reader, Manifest& manifest) {
  manifest.abi = read_abi(reader);
  manifest.probe = reader.optional_path("probe");
  manifest.library = reader.path("library");
  manifest.device_types = read_device_types(reader);
  if (manifest.device_types.empty()) refuse("device_types", "is missing or empty");
  manifest.device_archs = reader.texts("device_archs");
  manifest.visible_devices = read_visible_devices(reader);
  manifest.torch_libraries = read_torch_libraries(reader);
  if (!manifest.torch_libraries.empty() && manifest.torch.kind != TorchSource::Kind::kExternal) {
    refuse("torch_libraries", "belongs to an external torch; a package lists its libraries in preload");
  }
  manifest.automatic = reader.boolean("auto");
  if (reader.find("priority")) manifest.priority = reader.integer("priority", -1000000, 1000000);
}

void check_torch(const Manifest& manifest) {
  if (manifest.kind == Manifest::Kind::kTorch && manifest.torch.kind != TorchSource::Kind::kDirectory) {
    refuse("torch", "a package of kind torch needs a directory of its own");
  }
  if (manifest.torch.kind == TorchSource::Kind::kNone) return;
  if (major_minor(manifest.torch_version).empty()) refuse("torch_version", "is missing or not like 2.11.0");
}

Manifest interpret(const bj::value& document) {
  const Reader reader(document, "the document");
  const std::int64_t schema = reader.integer("schema", 1, std::numeric_limits<std::int64_t>::max());
  if (schema != kSchema) {
    refuse("schema", format("{} is newer than this program, which reads {}. Install a newer program", schema, kSchema));
  }
  Manifest manifest;
  manifest.id = reader.text("id");
  if (!is_id(manifest.id)) refuse("id", "needs 1 to 63 of a-z, 0-9, '_', '-', and begins with neither sign");
  manifest.name = reader.optional_text("name").value_or(manifest.id);
  manifest.version = reader.text("version");
  const std::string kind = reader.optional_text("kind").value_or("plugin");
  if (kind != "plugin" && kind != "torch") refuse("kind", format("{} is neither plugin nor torch", kind));
  manifest.kind = kind == "torch" ? Manifest::Kind::kTorch : Manifest::Kind::kPlugin;
  manifest.torch = read_torch(reader);
  manifest.torch_version = reader.optional_text("torch_version").value_or("");
  manifest.architectures = reader.texts("architectures");
  manifest.preload = reader.texts("preload");
  for (const std::string& file : manifest.preload) Reader::checked_path(file, "preload");
  manifest.sha256 = read_hashes(reader);
  check_torch(manifest);
  if (manifest.kind == Manifest::Kind::kPlugin) read_plugin_part(reader, manifest);
  return manifest;
}

}  // namespace

Manifest read_manifest(const fs::path& directory) {
  const fs::path path = directory / "manifest.json";
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) fail(ErrorKind::kDevice, "manifest.json: is not a regular file");
  const std::uintmax_t size = fs::file_size(path, ec);
  if (ec || size > kMaxManifestBytes) {
    fail(ErrorKind::kDevice, "manifest.json: {} bytes, at most {} allowed", size, kMaxManifestBytes);
  }
  require_private(directory);
  require_private(path);
  return parse_manifest(read_text(path, ErrorKind::kDevice));
}

Manifest parse_manifest(std::string_view text) {
  return interpret(json::parse(text, "manifest.json", ErrorKind::kDevice));
}

void require_private(const fs::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    fail(ErrorKind::kDevice, "{}: {}", path.string(), std::strerror(errno));
  }
  const bool group = (status.st_mode & S_IWGRP) && status.st_gid != status.st_uid;
  const bool everybody = (status.st_mode & S_IWOTH) != 0;
  if (!group && !everybody) return;
  fail(ErrorKind::kDevice, "{}: writable by {}, so anybody there could have changed it. Run chmod go-w {}",
       path.string(), everybody ? "everybody" : "its group", shell_quote(path.string()));
}

fs::path package_file(const fs::path& package, const std::string& file) {
  std::error_code ec;
  const fs::path real = fs::canonical(package / file, ec);
  if (ec) fail(ErrorKind::kDevice, "{}: {}", file, ec.message());
  const fs::path root = fs::canonical(package, ec);
  const auto [inside, rest] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (ec || inside != root.end())
    fail(ErrorKind::kDevice, "{}: is a link out of the package, to {}", file, real.string());
  return real;
}

std::string major_minor(std::string_view version) {
  const auto digits = [](std::string_view text) { return std::min(text.find_first_not_of("0123456789"), text.size()); };
  const std::size_t major = digits(version);
  if (major == 0 || major >= version.size() || version[major] != '.') return "";
  const std::size_t minor = digits(version.substr(major + 1));
  if (minor == 0) return "";
  return std::string(version.substr(0, major + 1 + minor));
}

}  // namespace lerobot::accel
