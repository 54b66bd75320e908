#include "host/hub/listing.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/hub/place_text.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 50U;  // a pebibyte: sums of sizes cannot overflow
constexpr std::size_t kMostFiles = 4'000'000;
constexpr std::int64_t kKeptFormat = 1;

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Relative, without "..", and a name that every file system can hold.
bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > 1024 || path.find('\\') != std::string_view::npos) return false;
  if (std::ranges::any_of(path, [](unsigned char c) { return c < ' ' || c == 0x7f; })) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > 200) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

/// Any bytes as one short word for a message.
std::string printable(std::string_view text) {
  std::string out(text.substr(0, 100));
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < ' ' || c >= 0x7f; }, '?');
  return "\"" + out + (text.size() > 100 ? "...\"" : "\"");
}

std::string text_of(const bj::object& object, std::string_view key) {
  const bj::value* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

std::optional<std::uint64_t> size_of(const bj::object& object, std::string_view key) {
  const bj::value* value = object.if_contains(key);
  if (!value || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value->get_int64());
}

/// What is wrong with an entry; empty when nothing is.
std::string problem_of(const RemoteFile& file, bool has_size) {
  if (!is_safe_path(file.path)) return "a name that would leave the folder";
  if (!has_size || file.size > kLargestFile) return "no usable size";
  if (!is_sha1(file.blob_id)) return "no usable id";
  if (!file.sha256.empty() && !is_hex(file.sha256, 64)) return "no usable SHA-256";
  return "";
}

std::vector<std::string> sorted_texts(const std::unordered_set<std::string_view>& texts) {
  std::vector<std::string> sorted(texts.begin(), texts.end());
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace

Digest RemoteFile::digest() const {
  if (!sha256.empty()) return Digest::sha256();
  Digest git = Digest::sha1();
  git.add(format("blob {}", size) + '\0');
  return git;
}

bool is_sha1(std::string_view text) {
  return is_hex(text, 40);
}

void add_page(Listing& listing, const bj::value& page, const std::string& name, ErrorKind kind) {
  if (!page.is_array()) fail(kind, "{}: the server's list of files is no list. Is HF_ENDPOINT right?", name);
  for (const bj::value& entry : page.get_array()) {
    if (!entry.is_object()) fail(kind, "{}: the server's list of files has an entry that is none.", name);
    const bj::object& object = entry.get_object();
    if (text_of(object, "type") != "file") continue;
    RemoteFile file{text_of(object, "path"), 0, text_of(object, "oid"), "", text_of(object, "xetHash")};
    auto size = size_of(object, "size");
    if (const bj::value* lfs = object.if_contains("lfs"); lfs && lfs->is_object()) {
      file.sha256 = text_of(lfs->get_object(), "oid");
      if (file.sha256.empty()) file.sha256 = "none";
      size = size_of(lfs->get_object(), "size");
    }
    file.size = size.value_or(0);
    if (!is_hex(file.xet_hash, 64)) file.xet_hash.clear();
    if (const std::string problem = problem_of(file, size.has_value()); !problem.empty()) {
      fail(kind, "{}: the server lists a file with {}: {}. Nothing was downloaded; tell the owner of the repository.",
           name, problem, printable(file.path));
    }
    listing.push_back(std::move(file));
    if (listing.size() > kMostFiles) fail(kind, "{}: lists more than {} files.", name, kMostFiles);
  }
}

std::optional<Listing> read_kept_listing(const fs::path& folder, const std::string& commit) {
  const fs::path path = folder / "trees" / (commit + ".json");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    const bj::value root = json::read_file(path, ErrorKind::kIo);
    const bj::object& object = root.as_object();
    if (object.at("format_version").as_int64() != kKeptFormat) return std::nullopt;
    Listing listing;
    for (const auto& [name, value] : object.at("files").as_object()) {
      const bj::object& entry = value.as_object();
      RemoteFile file{std::string(name), 0, text_of(entry, "blob_id"), text_of(entry, "lfs_sha256"),
                      text_of(entry, "xet_hash")};
      const auto size = size_of(entry, file.sha256.empty() ? "size" : "lfs_size");
      file.size = size.value_or(0);
      if (!problem_of(file, size.has_value()).empty()) return std::nullopt;
      listing.push_back(std::move(file));
    }
    return listing;
  } catch (const std::exception& error) {
    log::warn("{}: not used: {}", path.string(), error.what());
    return std::nullopt;
  }
}

void keep_listing(const fs::path& folder, const std::string& commit, const Listing& listing) {
  bj::object files;
  for (const RemoteFile& file : listing) {
    const auto size = static_cast<std::int64_t>(file.size);
    bj::object entry{{"size", size}, {"blob_id", file.blob_id}};
    if (!file.sha256.empty()) {
      entry["lfs_sha256"] = file.sha256;
      entry["lfs_size"] = size;
    }
    if (!file.xet_hash.empty()) entry["xet_hash"] = file.xet_hash;
    files[file.path] = std::move(entry);
  }
  const bj::value root = bj::object{{"format_version", kKeptFormat}, {"files", std::move(files)}};
  try {
    place_text(folder / "trees" / (commit + ".json"), json::write(root, {.indent = 1}));
  } catch (const Error& error) {
    log::warn("the list of files is not kept: {}", error.what());
  }
}

Listing choose_files(const Listing& listing, const Request& request, const std::string& name, ErrorKind kind) {
  if (!request.paths) return listing;
  std::unordered_set<std::string_view> missing(request.paths->begin(), request.paths->end());
  const std::unordered_set<std::string_view> names(request.paths->begin(), request.paths->end());
  std::vector<std::string_view> folders;
  std::ranges::copy_if(names, std::back_inserter(folders), [](std::string_view path) { return path.ends_with('/'); });

  Listing chosen;
  for (const RemoteFile& file : listing) {
    bool is_wanted = names.contains(file.path);
    missing.erase(file.path);
    for (const std::string_view folder : folders) {
      if (!file.path.starts_with(folder)) continue;
      is_wanted = true;
      missing.erase(folder);
    }
    if (is_wanted || std::ranges::find(request.extras, file.path) != request.extras.end()) chosen.push_back(file);
  }
  if (missing.empty()) return chosen;
  const std::vector<std::string> sorted = sorted_texts(missing);
  const std::size_t shown = std::min<std::size_t>(sorted.size(), 5);
  const std::string rest = shown < sorted.size() ? format(" and {} more", sorted.size() - shown) : "";
  fail(kind, "{}: has no {}{}. It has {} files.", name,
       join({sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(shown)}, ", "), rest, listing.size());
}

}  // namespace lerobot::hub
