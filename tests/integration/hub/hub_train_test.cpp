// lerobot-train with datasets, policies and runs by their names on the hub, and with none of them.

#include <gmock/gmock.h>

#include <fstream>

#include "host/base/error.h"
#include "tests/integration/train/run_support.h"
#include "tests/support/hub_server.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A server with the datasets and checkpoints of tests/data, and a home of the hub's files that is empty at first.
class TrainHub : public testing::Test {
 protected:
  TrainHub() {
    bj::array repos;
    for (const char* name : {"pusht_keypoints", "pusht_sim"}) {
      const std::string folder = test_data("datasets/" + std::string(name)).string();
      repos.push_back({{"type", "datasets"},
                       {"id", "org/" + std::string(name)},
                       {"revisions", {{"main", folder}, {"v3.0", folder}}}});
    }
    const auto add_model = [&](const std::string& id, const fs::path& folder) {
      repos.push_back({{"type", "models"}, {"id", id}, {"revisions", {{"main", folder.string()}}}});
    };
    add_model("org/run", test_data("checkpoints/act_keypoints"));
    add_model("org/policy", test_data("checkpoints/act_keypoints/checkpoints/000020/pretrained_model"));
    server_.emplace(folder_ / "server", bj::object{{"repos", repos}, {"elsewhere", true}});
  }
  ~TrainHub() override { fs::remove_all(folder_); }

  std::map<std::string, std::string> environment(const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> all{{"HF_ENDPOINT", server_->endpoint()},
                                           {"HF_HOME", (folder_ / "home").string()},
                                           {"HF_TOKEN", ""},
                                           {"HF_LEROBOT_HOME", ""},
                                           {"HF_HUB_CACHE", ""},
                                           {"HF_HUB_OFFLINE", ""},
                                           {"http_proxy", ""},
                                           {"all_proxy", ""}};
    for (const auto& [name, value] : more) all[name] = value;
    return all;
  }
  Outcome run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& more = {}) const {
    return run_program(train_program(), arguments, environment(more));
  }
  /// A small run of two steps on a dataset by its name.
  std::vector<std::string> by_name(const std::string& dataset, const std::string& output,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = small_act(dataset, folder_ / output, {"--steps=2", "--save_checkpoint=false"});
    std::erase_if(arguments, [](const std::string& flag) { return flag.starts_with("--dataset."); });
    arguments.push_back("--dataset.repo_id=org/" + dataset);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<double> losses(const std::string& output) const { return column(folder_ / output, "loss"); }

  const fs::path folder_ = make_temporary_directory("hub");
  std::optional<HubServer> server_;
};

TEST_F(TrainHub, DatasetByItsNameTrainsAsFromDiskAndThenOffline) {
  Outcome outcome = run(by_name("pusht_keypoints", "online"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("downloading"));
  outcome = run(by_name("pusht_keypoints", "offline"), {{"HF_HUB_OFFLINE", "1"}, {"HF_ENDPOINT", closed_endpoint()}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  train(small_act("pusht_keypoints", folder_ / "local", {"--steps=2", "--save_checkpoint=false"}));
  EXPECT_THAT(losses("online"), SizeIs(2));
  EXPECT_EQ(losses("online"), losses("local"));
  EXPECT_EQ(losses("offline"), losses("local"));
}

TEST_F(TrainHub, ChosenEpisodesDownloadTheirFilesOnly) {
  const Outcome outcome =
      run(by_name("pusht_sim", "out", {"--dataset.episodes=[0]", "--dataset.revision=main", "--steps=1"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(server_->requests("storage", "/data/chunk-000/"), SizeIs(1));
  EXPECT_THAT(server_->requests("storage", "/videos/observation.image/chunk-000/"), SizeIs(1));
  EXPECT_THAT(server_->requests("storage", "/data/chunk-001/"), IsEmpty());
  EXPECT_THAT(server_->requests("storage", "/videos/observation.image/chunk-001/"), IsEmpty());
}

TEST_F(TrainHub, LerobotDataDownloadsWhatItReads) {
  const std::string program = LEROBOT_STAGE "/bin/lerobot-data";
  const Outcome info = run_program(program, {"info", "org/pusht_keypoints"}, environment());
  ASSERT_EQ(info.exit_code, 0) << info.out;
  EXPECT_THAT(info.out, HasSubstr("1270"));
  EXPECT_THAT(server_->requests("storage", "/data/chunk-"), IsEmpty());
  const Outcome check = run_program(program, {"check", "org/pusht_keypoints"}, environment());
  EXPECT_EQ(check.exit_code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr(": sound ("));
  const Outcome absent = run_program(program, {"info", "org/absent"}, environment());
  EXPECT_EQ(absent.exit_code, 4) << absent.out;
  EXPECT_THAT(absent.out, HasSubstr("DATASET=org/absent"));
}

TEST_F(TrainHub, PolicyByItsNameStartsFromItsWeights) {
  const auto from = [&](const std::string& policy, const std::string& output) {
    return std::vector<std::string>{"--dataset.root=" + test_data("datasets/pusht_keypoints").string(),
                                    "--policy.path=" + policy,
                                    "--policy.push_to_hub=false",
                                    "--steps=2",
                                    "--log_freq=1",
                                    "--num_workers=0",
                                    "--output_dir=" + (folder_ / output).string()};
  };
  const Outcome outcome = run(from("org/policy", "named"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  train(from(test_data("checkpoints/act_keypoints/checkpoints/000020/pretrained_model").string(), "local"));
  EXPECT_THAT(losses("named"), SizeIs(2));
  EXPECT_EQ(losses("named"), losses("local"));
  EXPECT_THAT(file_content(folder_ / "named/checkpoints/last/pretrained_model/config.json"),
              HasSubstr("\"pretrained_path\": \"org/policy\""));
}

TEST_F(TrainHub, RunByItsNameIsResumed) {
  const std::vector<std::string> more{"--dataset.root=" + test_data("datasets/pusht_keypoints").string(),
                                      "--resume=true", "--steps=32", "--log_freq=1",
                                      "--output_dir=" + (folder_ / "run").string()};
  std::vector<std::string> arguments{"--config_path=org/run"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("Resuming after step 30"));
  EXPECT_THAT(server_->requests("hub", "resolve/"),
              Contains(testing::Field(&HubServer::Request::path, HasSubstr("000030/"))));
  EXPECT_THAT(column(folder_ / "run", "step"), testing::ElementsAre(31, 32));
  EXPECT_EQ(fs::read_symlink(folder_ / "run/checkpoints/last"), "000032");
}

// A name that is not there is refused by the hub's words, everything else before it is asked.
TEST_F(TrainHub, WhatCannotBeResumedIsRefused) {
  const auto resume = [](const std::string& path) {
    return std::vector<std::string>{"--config_path=" + path, "--resume=true"};
  };
  expect_error_line(run(resume("org/run"), {{"HF_HUB_OFFLINE", "1"}}), exit_code(ErrorKind::kCheckpoint),
                    {"--config_path=org/run", "HF_HUB_OFFLINE is set"});
  for (const char* path : {"no/such/run", "/nowhere/run", "run", "./org/run"}) {
    expect_error_line(run(resume(path)), exit_code(ErrorKind::kConfig), {path, "no such file or directory"});
  }
  EXPECT_THAT(server_->requests(), IsEmpty());
  expect_error_line(run(resume("org/none")), exit_code(ErrorKind::kCheckpoint),
                    {"--config_path=org/none", "status 401"});
  expect_error_line(run(resume("org/policy")), exit_code(ErrorKind::kConfig), {"org/policy", "has no checkpoints"});
}

TEST_F(TrainHub, DatasetOnDiskMakesNoConnectionAndLoadsNoLibraryForIt) {
  const std::string closed = closed_endpoint();
  const std::map<std::string, std::string> watched{{"LD_PRELOAD", COUNT_CONNECT_LIBRARY},
                                                   {"CONNECT_LOG", (folder_ / "connects").string()},
                                                   {"LD_DEBUG", "files"},
                                                   {"LD_DEBUG_OUTPUT", (folder_ / "loader").string()}};
  std::map<std::string, std::string> local = watched;
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"}) local[name] = closed;
  const auto loads_curl = [&] {
    bool found = false;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!entry.path().filename().string().starts_with("loader.")) continue;
      found = found || file_content(entry.path()).find("libcurl") != std::string::npos;
      fs::remove(entry.path());
    }
    return found;
  };
  std::vector<std::string> arguments = small_act("pusht_keypoints", folder_ / "local", {"--steps=2"});
  std::erase_if(arguments, [](const std::string& flag) { return flag.starts_with("--dataset.repo_id"); });
  Outcome outcome = run(arguments, local);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_FALSE(fs::exists(folder_ / "connects")) << file_content(folder_ / "connects");
  EXPECT_FALSE(loads_curl());
  EXPECT_THAT(server_->requests(), IsEmpty());

  // The same instruments see a dataset that comes from the hub.
  outcome = run(by_name("pusht_keypoints", "online"), watched);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(file_content(folder_ / "connects"), HasSubstr("connect"));
  EXPECT_TRUE(loads_curl());
}

TEST_F(TrainHub, DatasetThatIsNowhereIsOneLine) {
  expect_error_line(run(by_name("none", "out")), exit_code(ErrorKind::kData),
                    {"--dataset.repo_id=org/none", "status 401"});
  expect_error_line(run({"--dataset.root=" + (folder_ / "nowhere").string(), "--policy.type=act",
                         "--policy.pretrained_backbone_weights=null", "--output_dir=" + (folder_ / "out2").string()}),
                    exit_code(ErrorKind::kData), {(folder_ / "nowhere").string(), "meta/info.json"});
}

}  // namespace
}  // namespace lerobot::test
