#include <algorithm>

#include "tests/unit/hub/hub_test_tools.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(HubTest, EverythingIsDownloadedIntoTheLayoutOfThePythonCache) {
  serve({}, {{"elsewhere", true}, {"page", 2}});
  const Fetched fetched = fetch(dataset());
  EXPECT_EQ(fetched.root, set_cache() / "snapshots" / fetched.commit);
  EXPECT_EQ(read_file(fetched.root / "meta/info.json"), kInfo);
  EXPECT_EQ(read_file(fetched.root / "data/chunk-000/file-000.parquet"), kData);
  EXPECT_EQ(read_file(fetched.root / "videos/camera one/file-000.mp4"), kVideo);
  EXPECT_THAT(fetched.files, SizeIs(3));
  EXPECT_EQ(read_file(set_cache() / "refs/v3.0"), fetched.commit);
  const fs::path link = fs::read_symlink(fetched.root / "meta/info.json");
  EXPECT_EQ(link.parent_path(), "../../../blobs");
  EXPECT_EQ(link.filename().string().size(), 40U);
  EXPECT_EQ(fs::read_symlink(fetched.root / "data/chunk-000/file-000.parquet").filename().string().size(), 64U);
  EXPECT_TRUE(fs::exists(set_cache() / "trees" / (fetched.commit + ".json")));
  EXPECT_THAT(partials(cache()), IsEmpty());
  EXPECT_THAT(server().requests("storage", ""), SizeIs(2));
  EXPECT_THAT(server().requests("hub", "/tree/"), SizeIs(4)) << "four pages of two entries, folders among them";
}

TEST_F(HubTest, PagesThatAMirrorNamesElsewhereAreAskedOfTheMirror) {
  serve({}, {{"page", 1}, {"link_host", test::closed_endpoint().substr(7)}});
  EXPECT_THAT(fetch(dataset()).files, SizeIs(3));
}

TEST_F(HubTest, WhatIsThereIsNotDownloadedAgain) {
  serve();
  fetch(dataset());
  const std::size_t before = server().requests().size();
  fetch(dataset());
  EXPECT_EQ(server().requests().size(), before + 2) << "the names of the versions and the commit of one";
  Request request = dataset();
  request.revision = fetch(dataset()).commit;
  const std::size_t now = server().requests().size();
  EXPECT_EQ(fetch(request).commit, request.revision);
  EXPECT_EQ(server().requests().size(), now) << "a commit does not change";
}

TEST_F(HubTest, OnlyTheWantedFilesAreDownloaded) {
  serve();
  const Fetched fetched = fetch(dataset({{"meta/"}}));
  EXPECT_TRUE(fs::exists(fetched.root / "meta/info.json"));
  EXPECT_FALSE(fs::exists(fetched.root / "data"));
  EXPECT_THAT(server().requests("hub", "/resolve/"), SizeIs(1));
  fetch(dataset({{"videos/camera one/file-000.mp4"}}));
  EXPECT_TRUE(fs::exists(fetched.root / "videos/camera one/file-000.mp4"));
  EXPECT_FALSE(fs::exists(fetched.root / "data"));
  EXPECT_THAT(refusal_of(dataset({{"data/none.parquet"}})).message, HasSubstr("has no data/none.parquet"));
}

TEST_F(HubTest, PolicyIsOfMainUnlessARevisionIsNamed) {
  serve();
  const Fetched fetched = fetch(model({"config.json", "model.safetensors"}));
  EXPECT_EQ(fetched.root.parent_path(), cache() / "models--org--policy/snapshots");
  EXPECT_EQ(read_file(fetched.root / "model.safetensors"), "weights");
  EXPECT_THAT(server().requests("hub", "/api/models/org/policy/revision/main"), SizeIs(1));
  Request other = model({"config.json"});
  other.revision = "feature/x";
  EXPECT_THAT(refusal_of(other).message, AllOf(HasSubstr("has no revision feature/x"), HasSubstr("--policy.path")));
  EXPECT_THAT(server().requests("hub", "/revision/feature%2Fx"), SizeIs(1));
}

TEST_F(HubTest, EmptyFileNeedsNoRequest) {
  serve();
  const Fetched fetched = fetch(model({"empty.txt"}));
  EXPECT_EQ(read_file(fetched.root / "empty.txt"), "");
  EXPECT_THAT(server().requests("hub", "/resolve/"), IsEmpty());
}

TEST_F(HubTest, BranchOrCommitOfADatasetIsTakenAsItIs) {
  serve();
  Request request = dataset({{"meta/"}});
  request.revision = "main";
  EXPECT_EQ(fetch(request).commit, fetch(dataset({{"meta/"}})).commit);
  EXPECT_EQ(read_file(set_cache() / "refs/main"), read_file(set_cache() / "refs/v3.0"));
}

TEST_F(HubTest, OfflineTheCacheIsEnough) {
  serve();
  const Fetched online = fetch(dataset());
  Settings settings = this->settings();
  settings.offline = true;
  const std::size_t before = server().requests().size();
  const Fetched offline = fetch_files(dataset(), settings);
  EXPECT_EQ(offline.root, online.root);
  EXPECT_EQ(offline.commit, online.commit);
  EXPECT_EQ(offline.files.size(), 3U);
  EXPECT_EQ(server().requests().size(), before);
}

TEST_F(HubTest, OfflineWhatTheCacheLacksIsNamed) {
  serve();
  Settings settings = this->settings();
  settings.offline = true;
  EXPECT_THAT(refusal_of(dataset(), settings).message,
              AllOf(HasSubstr("revision v3.0 is not in the cache"), HasSubstr("HF_HUB_OFFLINE is set")));
  fetch(dataset({{"meta/"}}));
  const Refusal refusal = refusal_of(dataset(), settings);
  EXPECT_EQ(refusal.kind, ErrorKind::kData);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("2 files are not in the cache"),
                                     HasSubstr("data/chunk-000/file-000.parquet"), HasSubstr("HF_HUB_OFFLINE is set")));
  EXPECT_NO_THROW(fetch_files(dataset({{"meta/"}}), settings));
}

TEST_F(HubTest, WithoutTheNetworkTheCacheIsUsedWithAWarning) {
  serve();
  const Fetched online = fetch(dataset());
  Settings settings = this->settings();
  settings.endpoint = test::closed_endpoint();
  testing::internal::CaptureStderr();
  EXPECT_EQ(fetch_files(dataset(), settings).root, online.root);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("What is on this machine is used"));
  settings.cache = scratch() / "another";
  const Refusal refusal = refusal_of(dataset(), settings);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("127.0.0.1"), HasSubstr("HF_ENDPOINT")));
}

TEST_F(HubTest, NewCommitOfABranchIsFetchedAndTheOldOneStays) {
  serve();
  const Fetched first = fetch(model({"config.json", "model.safetensors"}));
  write_file(scratch() / "server/policy/config.json", "{\"new\": 1}");
  serve();
  const Fetched second = fetch(model({"config.json", "model.safetensors"}));
  EXPECT_NE(first.commit, second.commit);
  EXPECT_EQ(read_file(first.root / "config.json"), "{}");
  EXPECT_EQ(read_file(second.root / "config.json"), "{\"new\": 1}");
  EXPECT_EQ(read_file(second.root / "model.safetensors"), "weights");
  EXPECT_THAT(server().requests("hub", "/resolve/"), SizeIs(1)) << "the blob of the weights was there";
}

TEST_F(HubTest, ImpossibleNamesAreRefusedBeforeAnyRequest) {
  serve();
  Request request = dataset();
  for (const char* name : {"set", "../set", "a/b/c", "org/set?x"}) {
    request.repo_id = name;
    EXPECT_EQ(refusal_of(request).kind, ErrorKind::kUsage) << name;
  }
  request = dataset();
  for (const char* revision : {"../../../x", "/etc", "a b", "a//b", "v3.0\n", "a/"}) {
    request.revision = revision;
    EXPECT_EQ(refusal_of(request).kind, ErrorKind::kUsage) << revision;
  }
  EXPECT_THAT(server().requests(), IsEmpty());
}

TEST_F(HubTest, NamesFromTheServerThatLeaveTheFolderAreRefused) {
  const std::string id(40, 'a');
  set()["entries"] = {{{"type", "file"}, {"path", "../../../../../evil"}, {"size", 5}, {"oid", id}}};
  serve();
  const Refusal refusal = refusal_of(dataset());
  EXPECT_EQ(refusal.kind, ErrorKind::kData);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("../../../../../evil"), HasSubstr("would leave the folder")));
  EXPECT_THAT(server().requests("hub", "/resolve/"), IsEmpty());
  EXPECT_FALSE(fs::exists(scratch() / "evil"));
}

TEST_F(HubTest, FileThatIsAFolderToAnotherIsRefused) {
  const std::string id = "ce013625030ba8dba906f756967f9e9ca394464a";
  set()["entries"] = {
      {{"type", "file"}, {"path", "meta"}, {"size", 0}, {"oid", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"}},
      {{"type", "file"}, {"path", "meta/info.json"}, {"size", 6}, {"oid", id}}};
  serve();
  EXPECT_NE(refusal_of(dataset()).message, "");
}

}  // namespace
}  // namespace lerobot::hub
