#include "host/hub/dataset.h"

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

bool has_metadata(const fs::path& root) {
  std::error_code ignored;
  return fs::exists(root / "meta/info.json", ignored);
}

/// A mirror that old releases downloaded, of whatever revision was current then: not to be trusted for this one.
bool is_old_mirror(const fs::path& root) {
  std::error_code ignored;
  return fs::exists(root / ".cache/huggingface/download", ignored);
}

/// A name made from the root's, which no repository has.
bool is_made_up(const std::string& repo_id) {
  return repo_id.empty() || repo_id.starts_with("local/");
}

/// Where it lies on this machine anyway, if it does.
std::optional<fs::path> local_root(const DatasetName& name) {
  if (name.root) return has_metadata(*name.root) ? std::optional<fs::path>(*name.root) : std::nullopt;
  const fs::path root = lerobot_home() / name.repo_id;
  return has_metadata(root) && !is_old_mirror(root) ? std::optional(root) : std::nullopt;
}

/// That it is not here, if the hub cannot help.
void require_hub_name(const DatasetName& name) {
  if (name.root && is_made_up(name.repo_id)) {
    fail(ErrorKind::kData,
         "--dataset.root={}: has no meta/info.json. Name the folder that holds meta/, data/ and videos/, or add "
         "--dataset.repo_id=ORG/NAME to download a dataset into it.",
         shell_quote(*name.root));
  }
  if (is_repo_id(name.repo_id) && !is_made_up(name.repo_id)) return;
  fail(ErrorKind::kData,
       "{}={}: not found at {}, and not the name of a dataset on the hub, ORG/NAME. Name the folder that "
       "holds meta/, data/ and videos/ with --dataset.root.",
       name.flag, shell_quote(name.repo_id), (lerobot_home() / name.repo_id).string());
}

}  // namespace

void DatasetPlace::fetch(const std::optional<std::vector<std::string>>& files) const {
  if (request_.repo_id.empty()) return;
  Request request = request_;
  request.paths = files;
  hub::fetch(request);
}

DatasetPlace find_dataset(const DatasetName& name) {
  DatasetPlace place;
  if (const auto root = local_root(name)) {
    if (!name.revision.empty()) {
      log::warn("--dataset.revision={}: not looked at, the dataset lies at {}", name.revision, root->string());
    }
    place.root_ = *root;
    return place;
  }
  require_hub_name(name);
  place.request_ = {.type = RepoType::kDataset,
                    .repo_id = name.repo_id,
                    .revision = name.revision,
                    .paths = std::vector<std::string>{"meta/"},
                    .extras = {},
                    .folder = name.root,
                    .flag = name.flag + "=" + name.repo_id};
  const Fetched fetched = fetch(place.request_);
  place.root_ = fetched.root;
  place.request_.revision = fetched.commit;
  return place;
}

}  // namespace lerobot::hub
