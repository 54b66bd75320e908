#include <fstream>

#include "tests/unit/hub/hub_test_tools.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HubFolder : public HubTest {
 protected:
  Request into_folder(std::optional<std::vector<std::string>> paths = std::nullopt) const {
    Request request = dataset(std::move(paths));
    request.folder = folder_;
    return request;
  }
  const fs::path folder_ = scratch() / "folder";
};

TEST_F(HubFolder, GetsTheFilesUnderTheirNamesWithPythonsNotes) {
  serve();
  const Fetched fetched = fetch(into_folder());
  EXPECT_EQ(fetched.root, folder_);
  EXPECT_EQ(read_file(folder_ / "data/chunk-000/file-000.parquet"), kData);
  EXPECT_FALSE(fs::is_symlink(folder_ / "meta/info.json"));
  std::ifstream note(folder_ / ".cache/huggingface/download/meta/info.json.metadata");
  std::string commit, id, time;
  note >> commit >> id >> time;
  EXPECT_EQ(commit, fetched.commit);
  EXPECT_EQ(id.size(), 40U);
  EXPECT_GT(std::stod(time), 1.7e9);
  EXPECT_FALSE(fs::exists(cache())) << "nothing goes into the cache";
  EXPECT_THAT(partials(folder_), IsEmpty());
}

TEST_F(HubFolder, IsNotDownloadedAgainAndFilesOfTheSameContentAreTaken) {
  serve();
  write_file(folder_ / "data/chunk-000/file-000.parquet", kData);
  fetch(into_folder());
  EXPECT_THAT(server().requests("hub", "/resolve/"), SizeIs(2));
  fetch(into_folder());
  EXPECT_THAT(server().requests("hub", "/resolve/"), SizeIs(2));
}

TEST_F(HubFolder, FileOfTheUsersIsNotOverwritten) {
  serve();
  write_file(folder_ / "meta/info.json", "mine");
  const Refusal refusal = refusal_of(into_folder());
  EXPECT_EQ(refusal.kind, ErrorKind::kIo);
  EXPECT_THAT(refusal.message, HasSubstr("Nothing is overwritten"));
  EXPECT_EQ(read_file(folder_ / "meta/info.json"), "mine");
}

TEST_F(HubFolder, DownloadedFileIsReplacedByANewCommits) {
  serve();
  fetch(into_folder());
  write_file(scratch() / "server/set/meta/info.json", "{\"codebase_version\": \"v3.0\", \"fps\": 10}");
  serve();
  fetch(into_folder());
  EXPECT_THAT(read_file(folder_ / "meta/info.json"), HasSubstr("fps"));
  EXPECT_THAT(server().requests("hub", "/resolve/"), SizeIs(1));
}

TEST_F(HubFolder, NeedsTheNetwork) {
  serve();
  fetch(dataset());
  Settings settings = this->settings();
  settings.offline = true;
  EXPECT_THAT(refusal_of(into_folder(), settings).message, HasSubstr("HF_HUB_OFFLINE is set"));
}

TEST_F(HubFolder, NotesOfARepositoryAreRefused) {
  set()["entries"] = {{{"type", "file"},
                       {"path", ".cache/huggingface/download/meta/info.json.metadata"},
                       {"size", 0},
                       {"oid", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"}}};
  serve();
  EXPECT_THAT(refusal_of(into_folder()).message, HasSubstr("where notes about downloads are kept"));
}

}  // namespace
}  // namespace lerobot::hub
