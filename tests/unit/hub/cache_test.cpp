#include <gmock/gmock.h>

#include "tests/unit/hub/hub_test_tools.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kCommit[] = "0123456789abcdef0123456789abcdef01234567";

/// A cache as huggingface_hub leaves it, without our help.
class PythonCache : public HubTest {
 protected:
  PythonCache() {
    write_file(set_cache() / "blobs/aaaa", kInfo);
    fs::create_directories(set_cache() / "snapshots" / kCommit / "meta");
    fs::create_symlink("../../../blobs/aaaa", set_cache() / "snapshots" / kCommit / "meta/info.json");
    write_file(set_cache() / "refs/v3.0", kCommit);
    offline_ = settings();
    offline_.offline = true;
  }
  Settings offline_;
};

TEST_F(PythonCache, ThatKeptNoListingIsUsedForWhatItHas) {
  const Fetched fetched = fetch_files(dataset({{"meta/"}}), offline_);
  EXPECT_EQ(fetched.commit, kCommit);
  EXPECT_EQ(read_file(fetched.root / "meta/info.json"), kInfo);
  EXPECT_THAT(fetched.files, testing::ElementsAre("meta/info.json"));
  EXPECT_EQ(fetch_files(dataset(), offline_).root, fetched.root);
  EXPECT_THAT(refusal_of(dataset({{"data/file.parquet"}}), offline_).message, HasSubstr("data/file.parquet"));
}

TEST_F(PythonCache, WithAListingIsCheckedAgainstIt) {
  const std::string id(40, 'a');
  write_file(set_cache() / "trees" / format("{}.json", kCommit),
             R"({"format_version": 1, "files": {"meta/info.json": {"size": )" + std::to_string(kInfo.size()) +
                 R"(, "blob_id": ")" + id + R"("}, "data/x.parquet": {"size": 3, "blob_id": ")" + id + R"("}}})");
  EXPECT_EQ(fetch_files(dataset({{"meta/"}}), offline_).commit, kCommit);
  EXPECT_THAT(refusal_of(dataset(), offline_).message, HasSubstr("1 files are not in the cache (data/x.parquet"));
}

TEST_F(PythonCache, RefThatIsNoCommitIsNotFollowed) {
  write_file(set_cache() / "refs/v3.0", "../../../../../etc");
  EXPECT_THAT(refusal_of(dataset(), offline_).message, HasSubstr("is not in the cache"));
}

}  // namespace
}  // namespace lerobot::hub
