#include "host/app/data_root.h"

#include "host/base/error.h"
#include "host/hub/dataset.h"

namespace lerobot {

namespace fs = std::filesystem;

fs::path find_dataset(const std::string& path_or_name, Part part) {
  std::error_code ignored;
  if (fs::is_directory(path_or_name, ignored)) return path_or_name;
  if (!hub::is_repo_id(path_or_name)) {
    fail(ErrorKind::kData, "no dataset at {}. Name the folder that holds meta/ and data/, or one on the hub, org/name.",
         path_or_name);
  }
  const hub::DatasetPlace place =
      hub::find_dataset({.root = {}, .repo_id = path_or_name, .revision = "", .flag = "DATASET"});
  if (part == Part::kAll) place.fetch(std::nullopt);
  return place.root();
}

}  // namespace lerobot
