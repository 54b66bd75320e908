// Names on the hub in the command line, with functions that look them up in a folder instead.

#include <gmock/gmock.h>

#include "host/config/config_file.h"
#include "tests/unit/config/config_test_tools.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

/// A hub whose one policy and one run are of the recorded checkpoints; notes what it was asked for.
class HubNamesTest : public testing::Test {
 protected:
  HubNamesTest() {
    fs::create_directories("hub");
    fs::copy(checkpoint_directory("act_keypoints", "000030"), "hub/policy");
    hub_.policy = [this](const std::string& name, const std::string& revision) {
      asked_.push_back("policy " + name + " " + revision);
      return fs::path("hub/policy");
    };
    hub_.train_config = [this](const std::string& name) {
      asked_.push_back("config " + name);
      return fs::path("hub/policy/train_config.json");
    };
    hub_.checkpoint = [this](const std::string& name, const fs::path& run) {
      asked_.push_back("checkpoint " + name);
      const fs::path step = run / "checkpoints/000030";
      fs::create_directories(step);
      fs::copy("hub/policy", step / "pretrained_model");
      return step;
    };
  }
  TrainCommand parse_with_hub(const Arguments& arguments) {
    std::ostringstream out;
    return parse_train_command(arguments, out, hub_).value();
  }
  std::string message(const Arguments& arguments) {
    try {
      parse_with_hub(arguments);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryDirectory here_;
  HubNames hub_;
  std::vector<std::string> asked_;
};

TEST_F(HubNamesTest, PolicyKeepsItsNameAndItsWeightsLieElsewhere) {
  const TrainCommand command =
      parse_with_hub({"--dataset.root=d", "--policy.path=org/policy", "--policy.optimizer_lr=0.5", "--output_dir=o/p"});
  EXPECT_EQ(common(*command.config.policy).pretrained_path, "org/policy");
  EXPECT_EQ(command.pretrained_directory, "hub/policy");
  EXPECT_EQ(std::get<ActConfig>(*command.config.policy).optimizer_lr, 0.5);
  EXPECT_EQ(std::get<ActConfig>(*command.config.policy).chunk_size, 10);
  EXPECT_THAT(asked_, ElementsAre("policy org/policy "));
}

TEST_F(HubNamesTest, RevisionOfAPolicyIsAskedFor) {
  const Arguments line{"--dataset.root=d", "--policy.path=org/policy", "--policy.pretrained_revision=v2",
                       "--output_dir=o/p"};
  EXPECT_EQ(common(*parse_with_hub(line).config.policy).pretrained_revision, "v2");
  EXPECT_THAT(asked_, ElementsAre("policy org/policy v2"));
}

TEST_F(HubNamesTest, PretrainedPathIsLookedUpToo) {
  const TrainCommand command = parse_with_hub(
      {"--dataset.root=d", "--policy.type=act", "--policy.pretrained_path=org/policy", "--output_dir=o/p"});
  EXPECT_EQ(command.pretrained_directory, "hub/policy");
}

TEST_F(HubNamesTest, WhatIsOnThisMachineIsNotAskedFor) {
  fs::create_directories("org");
  EXPECT_THAT(message({"--dataset.root=d", "--policy.path=org/policy"}), HasSubstr("no such directory"));
  fs::copy("hub/policy", "org/policy");
  EXPECT_EQ(parse_with_hub({"--dataset.root=d", "--policy.path=org/policy", "--output_dir=o/p"}).pretrained_directory,
            std::nullopt);
  for (const char* path : {"/org/name", "./org/name", "org", "org/name/more", "../name", "org/na me", "~/name"}) {
    EXPECT_THAT(message({"--resume=true", std::string("--config_path=") + path}),
                testing::AnyOf(HasSubstr("no such file"), HasSubstr("found a directory")))
        << path;
    EXPECT_THAT(message({"--dataset.root=d", std::string("--policy.path=") + path}),
                testing::AnyOf(HasSubstr("no such directory"), HasSubstr("found no config.json")))
        << path;
  }
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(HubNamesTest, RunIsResumedInANewDirectory) {
  const TrainCommand command = parse_with_hub({"--resume=true", "--config_path=org/run"});
  EXPECT_THAT(asked_, ElementsAre("config org/run", "checkpoint org/run"));
  const std::string run = *command.config.output_dir;
  EXPECT_THAT(run, MatchesRegex("outputs/train/[-0-9]+/[-0-9]+_resume"));
  EXPECT_EQ(command.checkpoint, here_.path() / run / "checkpoints/000030");
  EXPECT_EQ(common(*command.config.policy).pretrained_path, run + "/checkpoints/000030/pretrained_model");
}

TEST_F(HubNamesTest, RunIsResumedInTheDirectoryThatIsTyped) {
  const TrainCommand command =
      parse_with_hub({"--resume=true", "--config_path=org/run", "--output_dir=mine", "--steps=50"});
  EXPECT_EQ(command.config.output_dir, "mine");
  EXPECT_EQ(command.config.steps, 50);
  EXPECT_EQ(command.checkpoint, here_.path() / "mine/checkpoints/000030");
}

TEST_F(HubNamesTest, RunThatIsNotResumedGivesItsConfigurationOnly) {
  const TrainCommand command = parse_with_hub({"--config_path=org/run", "--output_dir=o/p"});
  EXPECT_THAT(asked_, ElementsAre("config org/run"));
  EXPECT_EQ(command.checkpoint, std::nullopt);
  EXPECT_EQ(command.config.batch_size, 8);
}

TEST_F(HubNamesTest, AreRefusedWithoutAWayToLookThemUp) {
  hub_ = {};
  EXPECT_THAT(message({"--config_path=org/run", "--resume=true"}),
              AllOf(HasSubstr("org/run"), HasSubstr("no such file")));
  EXPECT_THAT(message({"--dataset.root=d", "--policy.path=org/policy"}), HasSubstr("no such directory"));
}

}  // namespace
}  // namespace lerobot::config
