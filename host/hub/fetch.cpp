#include "host/hub/fetch.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/hub/download.h"
#include "host/hub/repository.h"
#include "host/hub/store.h"
#include "host/hub/version.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

constexpr char kDatasetVersion[] = "v3.0";

/// A branch, tag or commit that is one file name below refs/, or several.
bool is_safe_revision(const std::string& revision) {
  if (revision.empty() || revision.front() == '/' || revision.back() == '/' || revision.size() > 250) return false;
  const auto is_plain = [](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) || c == '-' || c == '_' || c == '.' || c == '/' || c == '+';
  };
  return std::ranges::all_of(revision, is_plain) && revision.find("..") == std::string::npos &&
         revision.find("//") == std::string::npos;
}

std::vector<std::string> names_of(const Listing& listing) {
  std::vector<std::string> names;
  for (const RemoteFile& file : listing) names.push_back(file.path);
  return names;
}

/// One call of fetch.
class Fetch {
 public:
  Fetch(const Request& request, const Settings& settings)
      : request_(request),
        settings_(settings),
        kind_(request.type == RepoType::kDataset ? ErrorKind::kData : ErrorKind::kCheckpoint),
        name_(request.flag.empty() ? request.repo_id : request.flag),
        cache_(settings.cache, request) {
    if (!is_repo_id(request.repo_id)) {
      fail(ErrorKind::kUsage, "{}: needed the name of a repository on the hub, ORG/NAME in letters, digits and -_.",
           name_);
    }
    revision_ = request.revision;
    if (revision_.empty()) revision_ = request.type == RepoType::kDataset ? kDatasetVersion : "main";
    if (!is_safe_revision(revision_)) {
      std::string shown = revision_;
      std::ranges::replace_if(
          shown, [](unsigned char c) { return c < ' '; }, '?');
      fail(ErrorKind::kUsage, "{}: found the revision {}, needed a branch, tag or commit.", name_, shell_quote(shown));
    }
  }

  Fetched run() {
    if (settings_.offline) return from_cache("HF_HUB_OFFLINE is set: unset it once to download what is missing.");
    const bool is_known = !request_.folder && known_commit();
    try {
      Repository repository(settings_, request_);
      return from_hub(repository, resolve(repository, is_known ? 1 : settings_.attempts));
    } catch (const Unreachable& error) {
      if (!is_known || has_commit_) throw;
      log::warn("{} What is on this machine is used.", error.what());
      return from_cache(error.what());
    }
  }

 private:
  bool is_version() const { return request_.type == RepoType::kDataset && parse_version(revision_).has_value(); }

  std::string resolve(Repository& repository, int attempts) {
    if (is_sha1(revision_)) return revision_;
    std::string revision = revision_;
    if (is_version()) revision = choose_version(repository.ref_names(attempts), revision_, name_);
    if (!is_safe_revision(revision)) fail(kind_, "{}: the server names a revision that is none.", name_);
    std::string commit = repository.commit(revision, attempts);
    if (!request_.folder) cache_.set_ref(revision, commit);
    has_commit_ = true;
    return commit;
  }

  Fetched from_hub(Repository& repository, const std::string& commit) {
    const std::unique_ptr<Store> store =
        request_.folder ? folder_store(*request_.folder, commit) : cache_.store(commit);
    std::optional<Listing> listing = read_kept_listing(store->listings(), commit);
    if (!listing) {
      listing = repository.listing(commit);
      keep_listing(store->listings(), commit, *listing);
    }
    const std::string at = format("{} ({})", name_, request_.revision.empty() ? revision_ : request_.revision);
    const Listing wanted = choose_files(*listing, request_, at, kind_);
    download(repository.client(), {name_, repository.file_prefix(commit), commit, kind_}, *store, wanted);
    return {store->root(), commit, names_of(*listing)};
  }

  /// The commit that the cache knows the revision by.
  std::optional<std::string> known_commit() const {
    std::optional<std::string> commit;
    if (is_sha1(revision_)) {
      commit = revision_;
    } else if (is_version()) {
      if (const auto name = find_version(cache_.ref_names(), revision_)) commit = cache_.ref(*name);
    } else {
      commit = cache_.ref(revision_);
    }
    std::error_code ignored;
    if (!commit || !fs::is_directory(cache_.snapshot(*commit), ignored)) return std::nullopt;
    return commit;
  }

  Fetched from_cache(const std::string& reason) const {
    if (request_.folder) {
      fail(kind_, "{}: cannot be downloaded into {}: {}", name_, request_.folder->string(), reason);
    }
    const std::optional<std::string> commit = known_commit();
    if (!commit) {
      fail(kind_, "{}: revision {} is not in the cache at {}, and {}", name_, revision_, cache_.repository().string(),
           reason);
    }
    const std::unique_ptr<Store> store = cache_.store(*commit);
    const std::optional<Listing> listing = read_kept_listing(store->listings(), *commit);
    if (!listing) return unlisted(store->root(), *commit, reason);
    std::vector<std::string> missing;
    for (const RemoteFile& file : choose_files(*listing, request_, name_, kind_)) {
      if (!store->provide(file)) missing.push_back(file.path);
    }
    require_none(missing, store->root(), reason);
    return {store->root(), *commit, names_of(*listing)};
  }

  /// Filled by a release of huggingface_hub that kept no listing: what is there is there.
  Fetched unlisted(const fs::path& root, const std::string& commit, const std::string& reason) const {
    std::vector<std::string> missing;
    for (const std::string& path : request_.paths.value_or(std::vector<std::string>{})) {
      std::error_code ignored;
      if (!fs::exists(root / path, ignored)) missing.push_back(path);
    }
    require_none(missing, root, reason);
    std::vector<std::string> names;
    std::error_code ec;
    for (fs::recursive_directory_iterator at(root, ec), end; !ec && at != end; at.increment(ec)) {
      std::error_code ignored;
      if (at->is_regular_file(ignored)) names.push_back(at->path().lexically_relative(root).string());
    }
    return {root, commit, names};
  }

  void require_none(const std::vector<std::string>& missing, const fs::path& root, const std::string& reason) const {
    if (missing.empty()) return;
    const std::size_t shown = std::min<std::size_t>(missing.size(), 5);
    fail(kind_, "{}: {} files are not in the cache ({}{} below {}), and {}", name_, missing.size(),
         join({missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(shown)}, ", "),
         shown < missing.size() ? ", ..." : "", root.string(), reason);
  }

  const Request& request_;
  const Settings& settings_;
  ErrorKind kind_;
  std::string name_;
  std::string revision_;
  Cache cache_;
  bool has_commit_ = false;  ///< the hub has told it
};

}  // namespace

Fetched fetch_files(const Request& request, const Settings& settings) {
  return Fetch(request, settings).run();
}

}  // namespace lerobot::hub
