// hub::fetch in processes of its own, as the programs call it: environment, locks, signals, a full disk.

#include <csignal>
#include <thread>

#include "host/hub/dataset.h"
#include "tests/unit/hub/hub_test_tools.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;
using test::Outcome;
using test::Program;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const char kFile[] = "data/chunk-000/file-000.parquet";

class HubProcess : public HubTest {
 protected:
  std::map<std::string, std::string> environment() {
    return {{"HF_ENDPOINT", server().endpoint()},
            {"HF_HOME", (scratch() / "home").string()},
            {"HF_TOKEN", "hf_secret"},
            {"HF_LEROBOT_HOME", ""},
            {"HF_HUB_CACHE", ""},
            {"HF_HUB_OFFLINE", ""},
            {"http_proxy", ""},
            {"all_proxy", ""}};
  }
  std::unique_ptr<Program> start(const std::map<std::string, std::string>& more = {}) {
    auto variables = environment();
    for (const auto& [name, value] : more) variables[name] = value;
    return std::make_unique<Program>(HUB_FETCH, std::vector<std::string>{"dataset", "org/set", "-", "-"}, variables);
  }
  fs::path home() const { return scratch() / "home/lerobot/hub"; }
  fs::path found() const {
    const fs::path set = home() / "datasets--org--set";
    return set / "snapshots" / read_file(set / "refs/v3.0") / kFile;
  }
  static bj::object slow(double seconds, int times = 1) {
    return {{"match", "resolve/.*parquet"}, {"times", times}, {"do", "slow"}, {"chunk", 10'000}, {"seconds", seconds}};
  }
  bool wait_for_part() {
    for (int i = 0; i < 500; ++i) {
      const auto parts = partials(home());
      for (const fs::path& part : parts) {
        std::error_code ec;
        if (part.parent_path().filename() == "blobs" && fs::file_size(part, ec) >= 20'000 && !ec) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
};

TEST_F(HubProcess, EnvironmentSaysWhereFromAndWhereTo) {
  serve();
  const Outcome outcome = start()->wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("downloading 3 files, 0.5 MB"), HasSubstr("downloaded in"), HasSubstr(home().string())));
  EXPECT_EQ(read_file(found()), kData);
  EXPECT_EQ(server().requests().at(0).authorization, "Bearer hf_secret");
}

TEST_F(HubProcess, TwoAtOnceDownloadOnce) {
  serve({slow(0.02, 2)});
  const auto first = start();
  ASSERT_TRUE(wait_for_part());
  const auto second = start();
  const Outcome waited = second->wait(), worked = first->wait();
  EXPECT_EQ(waited.exit_code, 0) << waited.out;
  EXPECT_EQ(worked.exit_code, 0) << worked.out;
  EXPECT_THAT(waited.out, HasSubstr("another process downloads " + std::string(kFile)));
  EXPECT_THAT(server().requests("hub", "/resolve/"), SizeIs(3));
  EXPECT_EQ(read_file(found()), kData);
}

TEST_F(HubProcess, WhoeverWaitsTakesOverFromOneThatIsKilled) {
  serve({slow(0.02)});
  const auto first = start();
  ASSERT_TRUE(wait_for_part());
  const auto second = start();
  ASSERT_TRUE(second->wait_for_output("another process"));
  first->send(SIGKILL);
  const Outcome outcome = second->wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(read_file(found()), kData);
  EXPECT_THAT(server().requests("hub", kFile).back().range, HasSubstr("bytes="));
}

TEST_F(HubProcess, InterruptLeavesAPartThatTheNextOneContinues) {
  serve({slow(0.02)});
  const auto first = start();
  ASSERT_TRUE(wait_for_part());
  first->send(SIGINT);
  EXPECT_EQ(first->wait().exit_code, 130);
  EXPECT_FALSE(fs::exists(found()));
  const Outcome outcome = start()->wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(read_file(found()), kData);
  const auto requests = server().requests("hub", kFile);
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_THAT(requests[1].range, testing::MatchesRegex("bytes=[1-9][0-9]*-"));
}

TEST_F(HubProcess, FullDiskIsOneLineAndTheRestFollowsLater) {
  serve();
  const Outcome outcome = start({{"HUB_FETCH_FILE_LIMIT", "150000"}})->wait();
  EXPECT_EQ(outcome.exit_code, exit_code(ErrorKind::kIo)) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cannot be written"), HasSubstr("more bytes needed"), HasSubstr("HF_HOME")));
  EXPECT_EQ(start()->wait().exit_code, 0);
  EXPECT_EQ(read_file(found()), kData);
}

TEST_F(HubProcess, CacheThatCannotBeWrittenToIsNamed) {
  serve();
  write_file(scratch() / "home/lerobot", "a file where a folder should be");
  const Outcome outcome = start()->wait();
  EXPECT_EQ(outcome.exit_code, exit_code(ErrorKind::kIo)) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cannot be created"), HasSubstr("HF_LEROBOT_HOME")));
}

TEST_F(HubProcess, OfflineAsksNobody) {
  serve();
  const Outcome before = start({{"HF_HUB_OFFLINE", "1"}})->wait();
  EXPECT_EQ(before.exit_code, exit_code(ErrorKind::kData)) << before.out;
  EXPECT_THAT(server().requests(), IsEmpty());
  EXPECT_EQ(start()->wait().exit_code, 0);
  const std::size_t asked = server().requests().size();
  EXPECT_EQ(start({{"HF_HUB_OFFLINE", "1"}})->wait().exit_code, 0);
  EXPECT_EQ(server().requests().size(), asked);
}

/// find_dataset in this process.
class FindDataset : public HubTest {
 protected:
  void SetUp() override {
    serve();
    variables_.set("HF_ENDPOINT", server().endpoint());
    variables_.set("HF_LEROBOT_HOME", (scratch() / "lerobot").string());
  }
  std::string message(const DatasetName& name) const {
    try {
      find_dataset(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return error.what();
    }
    return "accepted";
  }

 private:
  Variables variables_;
};

TEST_F(FindDataset, OnThisMachineAsksNobody) {
  write_file(scratch() / "mine/meta/info.json", kInfo);
  write_file(scratch() / "lerobot/org/set/meta/info.json", kInfo);
  EXPECT_EQ(find_dataset({(scratch() / "mine").string(), "local/mine", ""}).root(), scratch() / "mine");
  EXPECT_EQ(find_dataset({(scratch() / "mine").string(), "org/set", "v3.0"}).root(), scratch() / "mine");
  const DatasetPlace place = find_dataset({std::nullopt, "org/set", ""});
  EXPECT_EQ(place.root(), scratch() / "lerobot/org/set");
  EXPECT_EQ(place.commit(), "");
  place.fetch(std::nullopt);
  EXPECT_THAT(server().requests(), IsEmpty());
}

TEST_F(FindDataset, OnTheHubGetsItsMetadataFirstAndThenWhatIsAskedFor) {
  const DatasetPlace place = find_dataset({std::nullopt, "org/set", ""});
  EXPECT_EQ(place.root(), scratch() / "lerobot/hub/datasets--org--set/snapshots" / place.commit());
  EXPECT_FALSE(fs::exists(place.root() / "data"));
  place.fetch({{kFile}});
  EXPECT_EQ(read_file(place.root() / kFile), kData);
  EXPECT_FALSE(fs::exists(place.root() / "videos"));
  place.fetch(std::nullopt);
  EXPECT_TRUE(fs::exists(place.root() / "videos/camera one/file-000.mp4"));
}

TEST_F(FindDataset, MirrorOfAnOldReleaseIsNotTrusted) {
  write_file(scratch() / "lerobot/org/set/meta/info.json", kInfo);
  write_file(scratch() / "lerobot/org/set/.cache/huggingface/download/x.metadata", "");
  EXPECT_THAT(find_dataset({std::nullopt, "org/set", ""}).root().string(), HasSubstr("snapshots"));
}

TEST_F(FindDataset, RootWithoutADatasetIsFilledWhenANameIsGiven) {
  const std::string root = (scratch() / "root").string();
  EXPECT_THAT(message({root, "local/root", ""}),
              AllOf(HasSubstr("--dataset.root=" + root), HasSubstr("no meta/info.json")));
  const DatasetPlace place = find_dataset({root, "org/set", ""});
  EXPECT_EQ(place.root(), root);
  place.fetch({{kFile}});
  EXPECT_EQ(read_file(scratch() / "root" / kFile), kData);
}

TEST_F(FindDataset, NameThatCannotBeOnTheHubSaysWhichPathWasTried) {
  EXPECT_THAT(message({std::nullopt, "pusht", ""}),
              AllOf(HasSubstr("not found at " + (scratch() / "lerobot/pusht").string()), HasSubstr("ORG/NAME")));
  EXPECT_THAT(server().requests(), IsEmpty());
}

}  // namespace
}  // namespace lerobot::hub
