#include <algorithm>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/log.h"
#include "host/hub/place_text.h"
#include "host/hub/store.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

std::string folder_name(const Request& request) {
  std::string name = request.type == RepoType::kDataset ? "datasets--" : "models--";
  for (const char c : request.repo_id) name += c == '/' ? std::string("--") : std::string(1, c);
  return name;
}

class CacheStore : public Store {
 public:
  CacheStore(fs::path repository, fs::path locks, const std::string& commit)
      : repository_(std::move(repository)), locks_(std::move(locks)), root_(repository_ / "snapshots" / commit) {}

  fs::path root() const override { return root_; }
  fs::path listings() const override { return repository_; }

  bool provide(const RemoteFile& file) override {
    if (has_size(root_ / file.path, file.size)) return true;
    if (!has_size(blob(file), file.size)) return false;
    link(file);
    return true;
  }

  fs::path partial(const RemoteFile& file) const override {
    fs::path path = blob(file);
    return path += ".incomplete";
  }
  fs::path lock(const RemoteFile& file) const override { return locks_ / (file.id() + ".lock"); }

  void place(const RemoteFile& file) override {
    std::error_code ec;
    fs::rename(partial(file), blob(file), ec);
    if (ec) fail(ErrorKind::kIo, "{}: cannot be moved into place: {}", blob(file).string(), ec.message());
    link(file);
  }

 private:
  fs::path blob(const RemoteFile& file) const { return repository_ / "blobs" / file.id(); }

  /// Relative, so that the cache can be moved. Another process may do the same at this moment.
  void link(const RemoteFile& file) const {
    const fs::path pointer = root_ / file.path;
    make_parents(pointer);
    std::error_code ec;
    fs::remove(pointer, ec);
    fs::create_symlink(blob(file).lexically_relative(pointer.parent_path()), pointer, ec);
    if (!ec || has_size(pointer, file.size)) return;
    fs::rename(blob(file), pointer, ec);  // a file system without symbolic links
    if (ec) fail(ErrorKind::kIo, "{}: cannot be made: {}", pointer.string(), ec.message());
  }

  fs::path repository_, locks_, root_;
};

}  // namespace

Cache::Cache(const fs::path& directory, const Request& request)
    : repository_(directory / folder_name(request)), locks_(directory / ".locks" / folder_name(request)) {}

std::optional<std::string> Cache::ref(const std::string& name) const {
  const fs::path path = repository_ / "refs" / name;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::string commit = read_text(path, ErrorKind::kIo);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == ' ')) commit.pop_back();
  if (is_sha1(commit)) return commit;
  log::warn("{}: found something else than a commit; not used", path.string());
  return std::nullopt;
}

void Cache::set_ref(const std::string& name, const std::string& commit) const {
  if (name == commit || ref(name) == commit) return;
  try {
    place_text(repository_ / "refs" / name, commit);
  } catch (const Error& error) {
    log::warn("the commit of {} is not noted: {}", name, error.what());
  }
}

std::vector<std::string> Cache::ref_names() const {
  std::vector<std::string> names;
  const fs::path refs = repository_ / "refs";
  std::error_code ec;
  for (fs::recursive_directory_iterator at(refs, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) names.push_back(at->path().lexically_relative(refs).string());
  }
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<Store> Cache::store(const std::string& commit) const {
  return std::make_unique<CacheStore>(repository_, locks_, commit);
}

}  // namespace lerobot::hub
