#include <gmock/gmock.h>

#include "host/base/json.h"
#include "tests/unit/config/config_test_tools.h"

namespace lerobot::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const ActConfig& act(const TrainCommand& command) {
  return std::get<ActConfig>(*command.config.policy);
}

void expect_usage(const Arguments& arguments, const std::string& part) {
  const Refusal refusal = refusal_of(arguments);
  EXPECT_EQ(refusal.kind, ErrorKind::kUsage) << refusal.message;
  EXPECT_EQ(exit_code(refusal.kind), 2);
  EXPECT_THAT(refusal.message, HasSubstr(part));
}
void expect_usage_basics(const Arguments& more, const std::string& part) {
  expect_usage(with_basics(more), part);
}

TEST(CommandLine, TakesValuesWithEqualsSignOrAsTheNextWord) {
  const TrainCommand command = parse_basics({"--steps=5", "--batch_size", "7", "--save_freq", "-1", "--job_name="});
  EXPECT_EQ(command.config.steps, 5);
  EXPECT_EQ(command.config.batch_size, 7);
  EXPECT_EQ(command.config.save_freq, -1);
  EXPECT_EQ(command.config.job_name, "act");
}

TEST(CommandLine, TheLastOfTwoEqualFlagsWins) {
  EXPECT_EQ(parse_basics({"--steps=5", "--steps", "6", "--steps=7"}).config.steps, 7);
  expect_usage_basics({"--steps=5", "--steps=x"}, "found x");
  expect_usage_basics({"--config_path=a", "--config_path=b"}, "twice");
}

TEST(CommandLine, RefusesWhatIsNoFlag) {
  expect_usage_basics({"extra"}, "positional");
  expect_usage_basics({"--"}, "`--`");
  expect_usage_basics({"--dataset.episodes", "0", "1"}, "positional");
  expect_usage_basics({"-x"}, "positional");
  expect_usage_basics({"--save_checkpoint"}, "found no value");
  expect_usage_basics({"--job_name", "--steps=1"}, "--job_name: found no value");
}

TEST(CommandLine, NamesTheFlagThatWasProbablyMeant) {
  expect_usage_basics({"--batchsize=4"}, "Did you mean --batch_size?");
  expect_usage_basics({"--batch-size=4"}, "Did you mean --batch_size?");
  expect_usage_basics({"--policy.dropot=0.1"}, "Did you mean --policy.dropout?");
  expect_usage_basics({"--chunk_size=3"}, "Did you mean --policy.chunk_size?");
  expect_usage_basics({"--policy.type=actt"}, "Did you mean act?");
  expect_usage_basics({"--rename_map.a=b"}, "--rename_map=VALUE");
  expect_usage_basics({"--fsdp={}"}, "unknown flag");
  expect_usage_basics({"--checkpoint_path=x"}, "unknown flag");
  expect_usage_basics({"--step=3"}, "Did you mean --steps?");
}

TEST(CommandLine, RefusesAFieldOfAnotherPolicy) {
  expect_usage_basics({"--policy.horizon=3"}, "--policy.horizon: there is no such setting");
  expect_usage_basics({"--optimizer.momentum=0.9"}, "--optimizer.momentum");
}

TEST(CommandLine, RefusesByNameWhatIsNotSupportedYet) {
  expect_usage_basics({"--env.type=pusht"}, "not supported yet");
  expect_usage_basics({"--env={type: pusht}"}, "not supported yet");
  expect_usage_basics({"--peft.r=8"}, "not supported yet");
  expect_usage_basics({"--reward_model.type=sarm"}, "not supported yet");
  expect_usage_basics({"--sample_weighting.type=rabc"}, "not supported yet");
  expect_usage_basics({"--env.discover_packages_path=x"}, "Python packages");
  expect_usage_basics({"--policy.freeze_vision_encoder=true", "--policy.type=smolvla"},
                      "--policy.type: found smolvla, which is not supported yet, needed one of act");
  expect_usage_basics({"--optimizer.type=multi_adam"}, "not supported yet");
  expect_usage_basics({"--scheduler.type=molmoact2_cosine_with_warmup"}, "not supported yet");
  EXPECT_NO_THROW(parse_basics({"--env=null", "--peft=null"}));
}

TEST(CommandLine, AcceptsUnsupportedFlagsAtTheirDefaultOrOffValue) {
  const Arguments accepted{"--dataset.streaming=false",
                           "--wandb.enable=false",
                           "--job.target=null",
                           "--job.target=local",
                           "--parallelism.dp_shard=1",
                           "--accelerator.compile.enabled=false",
                           "--policy.push_to_hub=false",
                           "--policy.use_amp=false",
                           "--save_checkpoint_to_hub=false",
                           "--checkpoint_format=SAFETENSORS"};
  for (const std::string& flag : accepted) EXPECT_NO_THROW(parse_basics({flag})) << flag;
  const Arguments refused{"--dataset.streaming=true",
                          "--wandb.enable=true",
                          "--job.target=a100",
                          "--parallelism.dp_shard=-1",
                          "--parallelism.dp_replicate=2",
                          "--accelerator.compile.enabled=true",
                          "--accelerator.fsdp.cpu_offload=true",
                          "--policy.push_to_hub=true",
                          "--policy.use_amp=true",
                          "--save_checkpoint_to_hub=true",
                          "--checkpoint_format=dcp",
                          "--checkpoint_format=DCP",
                          "--accelerator.activation_checkpointing.mode=full"};
  for (const std::string& flag : refused) {
    const Refusal refusal = refusal_of_basics({flag});
    EXPECT_EQ(refusal.kind, ErrorKind::kUsage) << flag;
    EXPECT_THAT(refusal.message, AllOf(StartsWith(flag.substr(0, flag.find('='))), HasSubstr("not supported yet")))
        << flag;
  }
}

TEST(CommandLine, FlagsWithoutEffectTakeAnyValidValue) {
  for (const char* flag : {"--persistent_workers=false", "--dataloader_multiprocessing_context=fork",
                           "--dataloader_multiprocessing_context=null", "--dataset.video_backend=pyav",
                           "--dataset.return_uint8=true", "--cudnn_deterministic=true", "--env_eval_freq=0",
                           "--wandb.project=x", "--eval.n_episodes=3", "--ema.use_for_eval=false"}) {
    EXPECT_NO_THROW(parse_basics({flag})) << flag;
  }
  expect_usage_basics({"--dataloader_multiprocessing_context=threads"}, "needed one of spawn, fork, forkserver");
  expect_usage_basics({"--dataset.video_backend=opencv"}, "torchcodec, pyav");
}

TEST(CommandLine, TakesImageTransforms) {
  const ImageTransformsConfig defaults = parse_basics({}).config.dataset.image_transforms;
  EXPECT_FALSE(defaults.enable);
  EXPECT_EQ(defaults.tfs.size(), 6U);
  const ImageTransformsConfig typed =
      parse_basics(
          {"--dataset.image_transforms.enable=true", "--dataset.image_transforms.max_num_transforms=1",
           "--dataset.image_transforms.random_order=true",
           "--dataset.image_transforms.tfs={bright: {weight: 2, type: ColorJitter, kwargs: {brightness: [0.5, 2]}}}"})
          .config.dataset.image_transforms;
  EXPECT_TRUE(typed.enable && typed.random_order);
  EXPECT_EQ(typed.max_num_transforms, 1);
  ASSERT_EQ(typed.tfs.size(), 1U) << "given ones replace the six";
  const ImageTransform& bright = *typed.tfs.find("bright");
  EXPECT_EQ(bright.weight, 2);
  EXPECT_EQ(bright.type, "ColorJitter");
  EXPECT_EQ(json::write_line(bright.kwargs), R"({"brightness":[0.5,2]})");
}

TEST(CommandLine, TakesTheSettingsOfAnAverage) {
  const TrainConfig config = parse_basics({"--ema.enable=yes", "--ema.update_after_step=5", "--ema.inv_gamma=2",
                                           "--ema.power=0.5", "--ema.min_decay=0.1", "--ema.max_decay=0.9"})
                                 .config;
  EXPECT_TRUE(config.ema.enable);
  EXPECT_EQ(config.ema.decay, std::nullopt);
  EXPECT_EQ(config.ema.update_after_step, 5);
  EXPECT_EQ(config.ema.inv_gamma, 2.0);
  EXPECT_EQ(config.ema.power, 0.5);
  EXPECT_EQ(config.ema.min_decay, 0.1);
  EXPECT_EQ(config.ema.max_decay, 0.9);
  EXPECT_EQ(parse_basics({"--ema.enable=true", "--ema.decay=0.99"}).config.ema.decay, 0.99);
  expect_usage_basics({"--ema.decay=2"}, "from 0.0 to 1.0");
  expect_usage_basics({"--ema.decay=0.5", "--ema.max_decay=0.6"}, "needed one of the two");
}

TEST(CommandLine, WholeSectionsAreRefinedByLaterFlagsAndReplaceEarlierOnes) {
  const Arguments basics{"--dataset={root: data/set}", "--output_dir=/no-such-directory-here/run"};
  Arguments refined = basics;
  refined.insert(refined.end(),
                 {"--policy={type: act, chunk_size: 7, n_action_steps: 7}", "--policy.n_action_steps=3"});
  EXPECT_EQ(act(parse(refined)).chunk_size, 7);
  EXPECT_EQ(act(parse(refined)).n_action_steps, 3);
  Arguments replaced = basics;
  replaced.insert(replaced.end(), {"--policy.dropout=0.5", "--policy={\"type\": \"act\"}"});
  EXPECT_EQ(act(parse(replaced)).dropout, 0.1);
  expect_usage_basics({"--policy=null"}, "--policy.type: is missing");
  expect_usage_basics({"--policy=act"}, "needed a mapping");
  expect_usage_basics({"--policy=include act.yaml"}, "`include` is not supported");
  expect_usage_basics({"--policy={type: act, chunk: 7}"}, "--policy.chunk: there is no such setting");
  expect_usage_basics({"--ema=null"}, "needed a mapping");
}

TEST(CommandLine, DictionariesAreOneValue) {
  const TrainCommand command =
      parse_basics({"--policy.pretrained_path=there", "--rename_map={observation.a: observation.b}",
                    R"(--policy.normalization_mapping={"STATE": "MIN_MAX"})",
                    "--policy.input_features={observation.state: {type: STATE, shape: [2]}}"});
  EXPECT_EQ(*command.config.rename_map.find("observation.a"), "observation.b");
  EXPECT_EQ(act(command).normalization_mapping.size(), 1u);
  EXPECT_EQ(act(command).input_features.find("observation.state")->shape, std::vector<std::int64_t>{2});
  expect_usage_basics({"--rename_map={a: b}"}, "--rename_map: needs pretrained weights");
  expect_usage_basics({"--policy.normalization_mapping={STATE: MEAN}"},
                      "--policy.normalization_mapping.STATE: found MEAN");
}

TEST(CommandLine, KnowsWhetherTheDeviceWasTyped) {
  EXPECT_TRUE(parse_basics({"--policy.device=cpu"}).device_typed);
  EXPECT_TRUE(
      parse({"--dataset.root=x", "--policy={type: act, device: cpu}", "--output_dir=/no-such-directory-here/run"})
          .device_typed);
  EXPECT_FALSE(parse_basics({}).device_typed);
  EXPECT_FALSE(parse_basics({"--policy.device=null"}).device_typed);
  EXPECT_FALSE(parse_basics({"--policy.device="}).device_typed);
}

TEST(CommandLine, OurOwnFlagsAreNeverWritten) {
  const TrainCommand command = parse_basics({"--plugins=a:b c::d", "--plugin=cpu", "--torch_dir=/t",
                                             "--log_level=debug", "--frame_cache_mb=5", "--num_threads", "3"});
  EXPECT_EQ(command.host.plugin_directories, (std::vector<std::string>{"a", "b c", "d"}));
  EXPECT_EQ(command.host.plugin, "cpu");
  EXPECT_EQ(command.host.torch_directory, "/t");
  EXPECT_EQ(command.host.log_level, "debug");
  EXPECT_EQ(command.host.frame_cache_mb, 5);
  EXPECT_EQ(command.host.num_threads, 3);
  EXPECT_EQ(train_config_json(command.config), train_config_json(parse_basics({}).config));
  expect_usage_basics({"--log_level=loud"}, "debug, info, warning, error");
  expect_usage_basics({"--num_threads=-1"}, "0 or more");
  expect_usage_basics({"--num_threads=many"}, "--num_threads: found many, needed an integer");
}

TEST(CommandLine, NeedsADatasetAndAPolicy) {
  expect_usage({"--policy.type=act"}, "--dataset.root: is missing");
  expect_usage({"--dataset.root=x"}, "--policy.type: is missing");
  expect_usage({"--dataset.root=x", "--policy.dropout=0"}, "--policy.type: is missing, needed one of act");
  expect_usage_basics({"--policy.type=null"}, "needed one of act");
  expect_usage_basics({"--resume=true"}, "without --config_path");
  EXPECT_EQ(parse_basics({}).config.dataset.repo_id, "local/set");
  EXPECT_EQ(parse_basics({"--dataset.repo_id=me/x"}).config.dataset.repo_id, "me/x");
}

}  // namespace
}  // namespace lerobot::config
