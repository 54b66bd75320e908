#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <regex>
#include <thread>

#include "host/base/exit_status.h"
#include "host/base/json.h"
#include "host/config/help.h"
#include "tests/unit/config/config_test_tools.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ActConfig& act(TrainCommand& command) {
  return std::get<ActConfig>(*command.config.policy);
}

TEST(Rules, RangesAreChecked) {
  const std::vector<std::pair<std::string, std::string>> refused{
      {"--batch_size=0", "1 or more"},
      {"--steps=-1", "0 or more"},
      {"--num_workers=-1", "0 or more"},
      {"--prefetch_factor=0", "1 or more"},
      {"--seed=-1", "0 to 4294967295"},
      {"--seed=4294967296", "0 to 4294967295"},
      {"--accelerator.gradient_accumulation.steps=0", "1 or more"},
      {"--accelerator.mixed_precision=fp8", "needed one of no, bf16, fp16"},
      {"--dataset.episodes=[0,-1]", "found -1"},
      {"--dataset.episodes=[3,3]", "found 3 twice"},
      {"--optimizer.lr=-1", "0 or more"},
      {"--optimizer.lr=inf", "finite"},
      {"--optimizer.betas=[0.9,1.0]", "exclusive"},
      {"--optimizer.betas=[0.9]", "a list of 2 numbers"},
      {"--policy.n_obs_steps=2", "needed 1"},
      {"--policy.n_action_steps=101", "chunk_size (100)"},
      {"--policy.chunk_size=0", "1 or more"},
      {"--policy.temporal_ensemble_coeff=0.01", "needs n_action_steps 1"},
      {"--policy.vision_backbone=resnet34", "not supported yet"},
      {"--policy.vision_backbone=vit", "needed a ResNet"},
      {"--policy.replace_final_stride_with_dilation=true", "not supported yet"},
      {"--policy.replace_final_stride_with_dilation=1", "not supported yet"},
      {"--policy.n_heads=7", "multiple of n_heads"},
      {"--policy.n_heads=0", "1 or more"},
      {"--policy.dropout=1.5", "from 0.0 to 1.0"},
      {"--policy.feedforward_activation=tanh", "relu, gelu, glu"},
      {"--policy.type=diffusion", "cannot be trained yet"},
      {"--scheduler.type=vqbet", "--scheduler.num_warmup_steps: is missing"},
      {"--eval.recording_repo_id=x", "--eval.recording=true"}};
  for (const auto& [flag, part] : refused) {
    const Refusal refusal = refusal_of_basics({flag});
    EXPECT_EQ(refusal.kind, ErrorKind::kUsage) << flag << ": " << refusal.message;
    EXPECT_THAT(refusal.message, HasSubstr(part)) << flag;
  }
  for (const char* flag : {"--steps=0", "--num_workers=0", "--seed=0", "--log_freq=0", "--save_freq=-1",
                           "--accelerator.mixed_precision=bf16", "--optimizer.grad_clip_norm=inf", "--tf32=null"}) {
    EXPECT_NO_THROW(parse_basics({flag})) << flag;
  }
  EXPECT_NO_THROW(parse_basics({"--policy.n_action_steps=1", "--policy.temporal_ensemble_coeff=0.01"}));
}

TEST(Rules, ALossOnHeldOutDataNeedsHeldOutData) {
  for (const char* value : {"-0.1", "1", "1.5", "nan", "inf"}) {
    const Refusal refusal = refusal_of_basics({"--dataset.eval_split=" + std::string(value)});
    EXPECT_EQ(refusal.kind, ErrorKind::kUsage);
    EXPECT_THAT(refusal.message,
                AllOf(HasSubstr("--dataset.eval_split: found "), HasSubstr("from 0.0 to 1.0 (exclusive)")));
  }
  EXPECT_THAT(refusal_of_basics({"--eval_steps=10"}).message,
              AllOf(HasSubstr("--eval_steps: found 10"), HasSubstr("Add --dataset.eval_split=0.1")));
  EXPECT_EQ(parse_basics({"--dataset.eval_split=0.99", "--eval_steps=10"}).config.eval_steps, 10);
  EXPECT_EQ(parse_basics({"--dataset.eval_split=0.25"}).config.dataset.eval_split, 0.25);
  for (const char* flag : {"--eval_steps=0", "--eval_steps=-1", "--max_eval_samples=-1", "--max_eval_samples=7"}) {
    EXPECT_NO_THROW(parse_basics({flag})) << flag;
  }
}

TEST(Rules, TheLossScalerBelongsToFp16) {
  const std::string fp16 = "--accelerator.mixed_precision=fp16";
  const std::string scaler = "--accelerator.grad_scaler.";
  const std::vector<std::pair<std::string, std::string>> refused{{"init_scale=0", "above 0"},
                                                                 {"init_scale=-1", "found -1.0"},
                                                                 {"init_scale=nan", "found NaN"},
                                                                 {"init_scale=1e39", "float32"},
                                                                 {"growth_factor=1", "above 1"},
                                                                 {"growth_factor=inf", "found Infinity"},
                                                                 {"backoff_factor=0", "between 0 and 1"},
                                                                 {"backoff_factor=1", "between 0 and 1"},
                                                                 {"growth_interval=0", "1 to 2147483647"},
                                                                 {"growth_interval=2147483648", "found 2147483648"},
                                                                 {"growth_interval=1.5", "needed an integer"}};
  for (const auto& [flag, part] : refused) {
    const Refusal refusal = refusal_of_basics({fp16, scaler + flag});
    EXPECT_EQ(refusal.kind, ErrorKind::kUsage) << flag;
    EXPECT_THAT(refusal.message, AllOf(HasSubstr(scaler + flag.substr(0, flag.find('='))), HasSubstr(part))) << flag;
  }
  const TrainCommand command = parse_basics({fp16, scaler + "init_scale=1024", scaler + "growth_interval=2000",
                                             "--max_skipped_updates=0", "--min_loss_scale=0.25"});
  EXPECT_EQ(command.config.accelerator.grad_scaler.init_scale, 1024);
  EXPECT_TRUE(command.grad_scaler_typed);
  EXPECT_EQ(command.host.max_skipped_updates, 0);
  EXPECT_EQ(command.host.min_loss_scale, 0.25);
  EXPECT_FALSE(parse_basics({fp16}).grad_scaler_typed);

  for (const std::string precision : {"no", "bf16"}) {
    for (const char* flag : {"init_scale=65536", "growth_interval=2000"}) {
      const Refusal refusal = refusal_of_basics({"--accelerator.mixed_precision=" + precision, scaler + flag});
      EXPECT_EQ(refusal.kind, ErrorKind::kUsage);
      EXPECT_THAT(refusal.message, AllOf(HasSubstr(scaler), HasSubstr("only read with fp16, and "),
                                         HasSubstr("is " + precision + ". Leave it out")));
    }
    for (const char* flag : {"--max_skipped_updates=5", "--min_loss_scale=4"}) {
      EXPECT_THAT(refusal_of_basics({"--accelerator.mixed_precision=" + precision, flag}).message,
                  HasSubstr("only read with fp16"));
    }
  }
  EXPECT_THAT(refusal_of_basics({fp16, "--max_skipped_updates=-1"}).message, HasSubstr("0 or more"));
  EXPECT_THAT(refusal_of_basics({fp16, "--min_loss_scale=inf"}).message, HasSubstr("finite"));
}

TEST(Rules, ActBringsAdamWWithItsOwnRates) {
  TrainCommand command = parse_basics({"--policy.optimizer_lr=3e-4", "--policy.optimizer_weight_decay=0"});
  const auto& adamw = std::get<AdamWConfig>(*command.config.optimizer);
  EXPECT_EQ(adamw.lr, 3e-4);
  EXPECT_EQ(adamw.weight_decay, 0);
  EXPECT_EQ(adamw.grad_clip_norm, 10);
  EXPECT_FALSE(command.config.scheduler);
}

TEST(Rules, TypedOptimizerFlagsGoOverThePreset) {
  TrainCommand command = parse_basics({"--optimizer.lr=0.5", "--scheduler.type=constant_with_warmup"});
  EXPECT_EQ(std::get<AdamWConfig>(*command.config.optimizer).lr, 0.5);
  EXPECT_EQ(std::get<AdamWConfig>(*command.config.optimizer).weight_decay, 1e-4);
  EXPECT_EQ(std::get<ConstantWithWarmupSchedulerConfig>(*command.config.scheduler).num_warmup_steps, 1000);
  EXPECT_THAT(refusal_of_basics({"--optimizer.lr=0.5", "--policy.optimizer_lr=0.1"}).message,
              HasSubstr("Leave one of them out"));
  EXPECT_NO_THROW(parse_basics({"--optimizer.lr=0.5", "--policy.optimizer_lr=5e-1"}));
  EXPECT_THAT(refusal_of_basics({"--optimizer.type=sgd"}).message, HasSubstr("--use_policy_training_preset=false"));
}

TEST(Rules, WithoutThePresetAnOptimizerMustBeNamed) {
  EXPECT_THAT(refusal_of_basics({"--use_policy_training_preset=false"}).message,
              HasSubstr("--optimizer.type: is missing"));
  TrainCommand command =
      parse_basics({"--use_policy_training_preset=false", "--optimizer.type=sgd", "--optimizer.momentum=0.9"});
  EXPECT_EQ(std::get<SgdConfig>(*command.config.optimizer).momentum, 0.9);
  EXPECT_FALSE(command.config.scheduler);
  command = parse_basics({"--use_policy_training_preset=false", "--optimizer.lr=0.5"});
  EXPECT_EQ(std::get<AdamConfig>(*command.config.optimizer).lr, 0.5);
  EXPECT_THAT(refusal_of_basics({"--use_policy_training_preset=false", "--optimizer.lr=0.5", "--policy.optimizer_lr=1"})
                  .message,
              HasSubstr("has no effect"));
}

TEST(Rules, AUsersFileCannotContradictThePreset) {
  TemporaryDirectory here;
  here.write("mine.json",
             R"({"dataset": {"root": "d"}, "policy": {"type": "act"}, "optimizer": {"type": "adamw", "lr": 0.5}})");
  const Refusal refusal = refusal_of({"--config_path=mine.json"});
  EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
  EXPECT_THAT(refusal.message, HasSubstr("mine.json: optimizer: differs from the policy's preset"));
  const TrainCommand command = parse({"--config_path=mine.json", "--use_policy_training_preset=false"});
  EXPECT_EQ(std::get<AdamWConfig>(*command.config.optimizer).lr, 0.5);
}

TEST(Rules, APushNobodyAskedForIsNoError) {
  EXPECT_TRUE(common(*parse_basics({}).config.policy).push_to_hub);
  EXPECT_EQ(refusal_of_basics({"--policy.push_to_hub=true"}).kind, ErrorKind::kUsage);
  EXPECT_EQ(refusal_of_basics({"--policy.push_to_hub=true", "--policy.repo_id=me/x"}).kind, ErrorKind::kUsage);
  testing::internal::CaptureStderr();
  parse_basics({"--policy.repo_id=me/x"});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("nothing is uploaded to me/x"));
}

TEST(Rules, OutputDirectoryIsDatedByDefault) {
  TemporaryDirectory here;
  const TrainCommand command = parse({"--dataset.root=d", "--policy.type=act", "--job_name=mine"});
  EXPECT_TRUE(std::regex_match(*command.config.output_dir,
                               std::regex("outputs/train/\\d{4}-\\d{2}-\\d{2}/\\d{2}-\\d{2}-\\d{2}_mine")))
      << *command.config.output_dir;
  EXPECT_FALSE(fs::exists("outputs"));
}

TEST(Rules, OutputDirectoryMustBeNewOrEmpty) {
  TemporaryDirectory here;
  const auto arguments = [](const std::string& directory) {
    return Arguments{"--dataset.root=d", "--policy.type=act", "--output_dir=" + directory};
  };
  fs::create_directory("empty");
  EXPECT_NO_THROW(parse(arguments("empty")));
  EXPECT_NO_THROW(parse(arguments("a/b/c")));
  EXPECT_FALSE(fs::exists("a"));
  here.write("it's used/file", "x");
  Refusal refusal = refusal_of(arguments("it's used"));
  EXPECT_EQ(refusal.kind, ErrorKind::kUsage);
  EXPECT_THAT(refusal.message, HasSubstr("--resume=true --config_path='it'\\''s used'"));
  EXPECT_TRUE(fs::exists("it's used/file"));
  EXPECT_THAT(refusal_of(arguments("it's used/file")).message, HasSubstr("a file, needed a directory"));
  EXPECT_THAT(refusal_of(arguments("")).message, HasSubstr("needed a directory"));
  if (geteuid() == 0) return;
  fs::permissions("empty", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(refusal_of(arguments("empty/run")).message, HasSubstr("cannot be written to"));
  fs::permissions("empty", fs::perms::owner_all);
}

TEST(Rules, EvaluationBatchIsResolvedFromTheProcessors) {
  const auto share = static_cast<std::int64_t>(0.7 * std::thread::hardware_concurrency());
  const std::int64_t wanted = std::min<std::int64_t>(std::max<std::int64_t>(share, 1), 50);
  EXPECT_EQ(parse_basics({}).config.eval.batch_size, wanted);
  EXPECT_EQ(parse_basics({"--eval.n_episodes=3", "--eval.batch_size=10"}).config.eval.batch_size, 3);
}

TEST(Rules, NegativeEpisodesToExcludeAreLeftOut) {
  EXPECT_EQ(*parse_basics({"--dataset.exclude_episodes=[-1,2]"}).config.dataset.exclude_episodes,
            std::vector<std::int64_t>{2});
}

TEST(Written, TheCommandOfACheckpointGivesItsTrainConfig) {
  for (const std::string run : {"act_keypoints", "act_pusht"}) {
    const fs::path directory = checkpoint_directory(run);
    const auto trace = json::read_file(directory / "../../../trace.json", ErrorKind::kData);
    Arguments arguments;
    for (const auto& word : trace.at("command").as_array()) arguments.emplace_back(word.as_string());
    arguments.erase(arguments.begin());
    TemporaryDirectory here;
    TrainCommand command = parse(arguments);
    // What is not in the command: the dataset's features, and the processors of the machine that wrote the file.
    const PolicyConfig stored = read_policy_config(directory / "config.json");
    act(command).input_features = common(stored).input_features;
    act(command).output_features = common(stored).output_features;
    command.config.eval.batch_size = 1;
    EXPECT_EQ(train_config_json(command.config), read_all(directory / "train_config.json"));
    EXPECT_EQ(policy_config_json(*command.config.policy), read_all(directory / "config.json"));
  }
}

TEST(Written, AReloadKeepsEveryByteButTheIntegerThatWasABoolean) {
  for (const std::string run : {"act_keypoints", "act_pusht", "diffusion_keypoints"}) {
    const fs::path file = checkpoint_directory(run) / "config.json";
    const std::string wanted = std::regex_replace(read_all(file), std::regex("dilation\": false"), "dilation\": 0");
    EXPECT_EQ(policy_config_json(read_policy_config(file)), wanted);
  }
  const fs::path golden = fs::path(LEROBOT_TEST_DATA) / "goldens/act_pusht/policy_config.json";
  EXPECT_EQ(policy_config_json(read_policy_config(golden)), read_all(golden));
}

TEST(Written, NewerSettingsOnlyWhenTheyAreNotTheDefault) {
  EXPECT_THAT(train_config_json(parse_basics({"--tf32=true"}).config), Not(HasSubstr("tf32")));
  EXPECT_THAT(train_config_json(parse_basics({"--tf32=null"}).config), HasSubstr("\"tf32\": null"));
  TrainConfig config = parse_basics({}).config;
  config.accelerator.grad_scaler.init_scale = 1024;
  EXPECT_THAT(train_config_json(config), HasSubstr("\"grad_scaler\": {\n            \"init_scale\": 1024.0"));
}

TEST(Help, IsGroupedAndScopedToTheTypedPolicy) {
  const auto help = [](const Arguments& arguments) {
    std::ostringstream out;
    EXPECT_FALSE(parse_train_command(arguments, out));
    return out.str();
  };
  const std::string plain = help({"--help"});
  EXPECT_LT(plain.find("This program"), plain.find("Training"));
  EXPECT_THAT(plain,
              AllOf(HasSubstr("--batch_size int"), HasSubstr("(default: 8)"), HasSubstr("no effect: "),
                    HasSubstr("only the default: "), Not(HasSubstr("--policy.chunk_size")), HasSubstr("--env.*")));
  EXPECT_THAT(help({"--policy.type=act", "-h"}),
              AllOf(HasSubstr("--policy.chunk_size"), Not(HasSubstr("--policy.horizon"))));
  EXPECT_THAT(help({"--policy.type", "diffusion", "--nonsense", "--help"}), HasSubstr("--policy.horizon"));
  EXPECT_TRUE(std::regex_match(help({"--version"}), std::regex("lerobot-train \\d+\\.\\d+\\.\\d+\n")));
}

TEST(Documents, RunningMdHoldsTheExitCodes) {
  const std::string text = read_all(fs::path(LEROBOT_SOURCE_DIR) / "docs/running.md");
  std::ostringstream help;
  parse_train_command({"--help"}, help);
  ASSERT_GT(exit_statuses().size(), 10U);
  for (const ExitStatus& status : exit_statuses()) {
    EXPECT_THAT(text, HasSubstr(format("| {} | {} |\n", status.code, status.meaning)));
    EXPECT_THAT(help.str(), HasSubstr(format("{:>3}  {}\n", status.code, status.meaning)));
  }
}

TEST(Rules, AScheduleLengthNeedsASchedule) {
  EXPECT_THAT(refusal_of_basics({"--schedule_steps=5"}).message, HasSubstr("--schedule_steps: found 5"));
  EXPECT_EQ(parse_basics({"--schedule_steps=5", "--scheduler.type=cosine_annealing_with_warmup",
                          "--scheduler.num_warmup_steps=1"})
                .host.schedule_steps,
            5);
  EXPECT_EQ(refusal_of_basics({"--keep_last_checkpoints=-1"}).kind, ErrorKind::kUsage);
}

TEST(Documents, FlagsMdHoldsTheTables) {
  const fs::path file = fs::path(LEROBOT_SOURCE_DIR) / "docs/flags.md";
  const std::string text = read_all(file);
  const std::string tables = flag_tables_markdown();
  const fs::path expected = fs::path(LEROBOT_BUILD_DIR) / "flag_tables.md";
  std::ofstream(expected) << tables;
  EXPECT_TRUE(text.ends_with(tables)) << file << " is out of date: put the text of " << expected
                                      << " after its first part.";
}

}  // namespace
}  // namespace lerobot::config
