#include <gmock/gmock.h>

#include <regex>

#include "tests/unit/config/config_test_tools.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const ActConfig& act(const TrainCommand& command) {
  return std::get<ActConfig>(*command.config.policy);
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.substr(0, at) + to + text.substr(at + from.size());
}

const char kUserConfig[] =
    R"({"dataset": {"root": "data/set"}, "policy": {"type": "act", "chunk_size": 9, "n_action_steps": 9},
  "output_dir": "new_run", "steps": 11, "rename_map": {}})";

TEST(ConfigFile, FlagsBeatTheFileWhichBeatsTheDefaults) {
  TemporaryDirectory here;
  here.write("mine.json", kUserConfig);
  const TrainCommand command = parse({"--config_path=mine.json", "--policy.n_action_steps=3"});
  EXPECT_EQ(act(command).chunk_size, 9);
  EXPECT_EQ(act(command).n_action_steps, 3);
  EXPECT_EQ(command.config.steps, 11);
  EXPECT_EQ(command.config.batch_size, 8);
  EXPECT_FALSE(command.checkpoint);
}

TEST(ConfigFile, MappingsAreMergedKeyByKeyListsAreReplaced) {
  TemporaryDirectory here;
  here.write("mine.json",
             R"({"dataset": {"root": "d", "episodes": [1, 2]}, "policy": {"type": "act", "pretrained_path": "p"},
    "output_dir": "o", "rename_map": {"c": "d"}})");
  const TrainCommand command =
      parse({"--config_path=mine.json", R"(--rename_map={"a":"b"})", "--dataset.episodes=[7]"});
  EXPECT_EQ(command.config.rename_map.size(), 2u);
  EXPECT_EQ(*command.config.dataset.episodes, std::vector<std::int64_t>{7});
  EXPECT_EQ(parse({"--config_path=mine.json", "--rename_map={}"}).config.rename_map.size(), 1u);
}

TEST(ConfigFile, AUsersUnknownKeyIsAnErrorWithTheNearestName) {
  TemporaryDirectory here;
  here.write("mine.json", R"({"dataset": {"root": "d"}, "policy": {"type": "act", "dropot": 0.5}})");
  const Refusal refusal = refusal_of({"--config_path=mine.json"});
  EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
  EXPECT_EQ(refusal.message, "mine.json: policy.dropot: there is no such setting here. Did you mean policy.dropout?");
}

TEST(ConfigFile, AStoredFilesUnknownKeysAreLeftOutWithOneWarning) {
  TemporaryDirectory here;
  std::string text = read_all(checkpoint_directory("act_keypoints") / "train_config.json");
  text = replaced(text, "\"seed\": 1000", "\"seed\": 1000, \"new_thing\": {\"a\": 1}");
  text = replaced(text, "\"chunk_size\": 10", "\"chunk_size\": 10, \"new_size\": 1");
  text = replaced(text, "\"root\":", "\"new_root\": null, \"root\":");
  here.write("train_config.json", text);
  const std::string warnings = logged([] { parse({"--config_path=train_config.json"}); });
  EXPECT_THAT(warnings, HasSubstr("dataset.new_root, policy.new_size, new_thing"));
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1) << warnings;
}

TEST(ConfigFile, AStoredFilesUnsupportedValuesGiveOneWarningAndTheDefaults) {
  TemporaryDirectory here;
  std::string text = read_all(checkpoint_directory("act_keypoints") / "train_config.json");
  text = replaced(text, "\"env\": null", "\"env\": {\"type\": \"pusht\"}");
  text = replaced(text, "\"dp_replicate\": 1", "\"dp_replicate\": 2");
  here.write("train_config.json", text);
  TrainCommand command;
  const std::string warnings = logged([&] { command = parse({"--config_path", "."}); });
  EXPECT_THAT(warnings, AllOf(HasSubstr("env="), HasSubstr("dp_replicate=2")));
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1) << warnings;
  EXPECT_EQ(command.config.parallelism.dp_replicate, 1);
  EXPECT_EQ(logged([&] {
              const Refusal refusal = refusal_of({"--config_path=.", "--parallelism.dp_replicate=2"});
              EXPECT_EQ(refusal.kind, ErrorKind::kUsage);
            }),
            "");
  EXPECT_THAT(logged([&] {
                parse({"--config_path=.", "--parallelism.dp_replicate=1"});
              }),
              Not(HasSubstr("dp_replicate")));
}

TEST(ConfigFile, AUsersUnsupportedValueIsAnError) {
  TemporaryDirectory here;
  here.write("mine.json", R"({"dataset": {"root": "d"}, "policy": {"type": "act"}, "wandb": {"enable": true}})");
  const Refusal refusal = refusal_of({"--config_path=mine.json"});
  EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("mine.json: wandb.enable"), HasSubstr("not supported yet")));
}

TEST(ConfigFile, WrongTypesAreErrorsWithPathValueAndType) {
  TemporaryDirectory here;
  const std::string stored = read_all(checkpoint_directory("act_keypoints") / "train_config.json");
  const auto message = [&](const std::string& from, const std::string& to) {
    here.write("train_config.json", replaced(stored, from, to));
    const Refusal refusal = refusal_of({"--config_path=train_config.json"});
    EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
    return refusal.message;
  };
  EXPECT_EQ(message("\"batch_size\": 8", "\"batch_size\": \"8\""),
            "train_config.json: batch_size: found \"8\" (text), needed an integer.");
  EXPECT_EQ(message("\"steps\": 30", "\"steps\": 1e3"), "train_config.json: steps: found 1000.0, needed an integer.");
  EXPECT_EQ(message("\"steps\": 30", "\"steps\": null"), "train_config.json: steps: found null, needed an integer.");
  EXPECT_EQ(message("\"steps\": 30", "\"steps\": true"), "train_config.json: steps: found true, needed an integer.");
  EXPECT_EQ(message("\"resume\": false", "\"resume\": \"false\""),
            "train_config.json: resume: found \"false\" (text), needed true or false.");
  EXPECT_EQ(message("\"job_name\": \"act\"", "\"job_name\": 5"),
            "train_config.json: job_name: found 5, needed a text or null.");
  EXPECT_EQ(message("\"episodes\": null", "\"episodes\": [0, 1.5]"),
            "train_config.json: dataset.episodes.1: found 1.5, needed an integer.");
  EXPECT_EQ(message("\"batch_size\": 8", "\"batch_size\": 0"),
            "train_config.json: batch_size: found 0, needed 1 or more.");
  EXPECT_EQ(message("\"dropout\": 0.0", "\"dropout\": 2"),
            "train_config.json: policy.dropout: found 2.0, needed a number from 0.0 to 1.0.");
}

TEST(ConfigFile, SyntaxErrorsSayFileLineAndColumn) {
  TemporaryDirectory here;
  const auto message = [&](const std::string& text) {
    here.write("train_config.json", text);
    const Refusal refusal = refusal_of({"--config_path=train_config.json"});
    EXPECT_EQ(refusal.kind, ErrorKind::kConfig) << refusal.message;
    return refusal.message;
  };
  EXPECT_THAT(message("{\n  \"resume\": flase\n}"), HasSubstr("train_config.json: line 2, column"));
  EXPECT_THAT(message("{\n  \"steps\": 1,\n}"), HasSubstr("line 3"));
  EXPECT_THAT(message("{'steps': 1}"), HasSubstr("line 1"));
  EXPECT_THAT(message("{\"steps\": 1, \"steps\": 2}"), HasSubstr("twice"));
  EXPECT_THAT(message("{\n\"tolerance_s\": NaN}"), HasSubstr("line 2"));
  EXPECT_THAT(message("{\"steps"), HasSubstr("line 1"));
  EXPECT_THAT(message(std::string(10000, '[')), HasSubstr("too deeply"));
  EXPECT_THAT(message("[]"), HasSubstr("needed a mapping"));
  EXPECT_THAT(message(""), HasSubstr("line 1"));
}

TEST(ConfigFile, AcceptsAByteOrderMarkAndWindowsLineEnds) {
  TemporaryDirectory here;
  here.write("mine.json", "\xEF\xBB\xBF" + std::regex_replace(std::string(kUserConfig), std::regex("\n"), "\r\n"));
  EXPECT_EQ(parse({"--config_path=mine.json"}).config.steps, 11);
}

TEST(ConfigFile, ReadsInfinityWherePythonWritesIt) {
  TemporaryDirectory here;
  const std::string stored = read_all(checkpoint_directory("act_keypoints") / "train_config.json");
  here.write("train_config.json", replaced(stored, "\"tolerance_s\": 0.0001", "\"tolerance_s\": Infinity"));
  EXPECT_TRUE(std::isinf(parse({"--config_path=train_config.json"}).config.tolerance_s));
}

TEST(ConfigFile, RefusesYamlAndTomlWithTheReason) {
  TemporaryDirectory here;
  for (const char* name : {"a.yaml", "a.yml", "a.toml"}) {
    here.write(name, "steps: 1");
    const Refusal refusal = refusal_of({std::string("--config_path=") + name});
    EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
    EXPECT_THAT(refusal.message, HasSubstr("needed JSON"));
  }
}

TEST(ConfigFile, KeysOfOldReleasesAreUnderstood) {
  TemporaryDirectory here;
  const std::string stored = read_all(checkpoint_directory("act_keypoints") / "train_config.json");
  here.write("train_config.json",
             replaced(stored, "\"seed\": 1000", "\"seed\": 1000, \"use_rabc\": false, \"rabc_kappa\": 0.1"));
  EXPECT_EQ(logged([] { parse({"--config_path=train_config.json"}); }), "");
  here.write("train_config.json",
             replaced(stored, "\"seed\": 1000", "\"seed\": 1000, \"use_rabc\": true, \"rabc_kappa\": 0.1"));
  EXPECT_THAT(logged([] { parse({"--config_path=train_config.json"}); }), HasSubstr("sample_weighting"));
}

TEST(ConfigFile, ReadsTheSettingsOfNewerReleases) {
  TemporaryDirectory here;
  std::string stored = read_all(checkpoint_directory("act_keypoints") / "train_config.json");
  stored = replaced(stored, "\"seed\": 1000", "\"seed\": 1000, \"tf32\": false");
  stored = replaced(
      stored, "\"fsdp\": {",
      R"("grad_scaler": {"init_scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000},
                       "fsdp": {)");
  here.write("train_config.json", stored);
  TrainCommand command;
  EXPECT_EQ(logged([&] { command = parse({"--config_path=train_config.json"}); }), "");
  EXPECT_EQ(command.config.tf32, false);
  EXPECT_THAT(train_config_json(command.config), AllOf(HasSubstr("\"tf32\": false"), Not(HasSubstr("grad_scaler"))));
}

TEST(ConfigFile, ADeviceInAFileIsNotATypedOne) {
  const fs::path file = checkpoint_directory("act_keypoints") / "train_config.json";
  const Arguments arguments{"--config_path=" + file.string(), "--output_dir=/no-such-directory-here/run"};
  EXPECT_FALSE(parse(arguments).device_typed);
  EXPECT_EQ(act(parse(arguments)).device, "cpu");
}

TEST(ConfigFile, AnotherTypeThanTheFilesIsRefused) {
  const fs::path file = checkpoint_directory("act_keypoints") / "train_config.json";
  const Refusal refusal = refusal_of({"--config_path=" + file.string(), "--policy.type=diffusion"});
  EXPECT_EQ(refusal.kind, ErrorKind::kUsage);
  EXPECT_THAT(refusal.message, HasSubstr("--policy.type: found diffusion"));
}

TEST(PolicyPath, TakesThePolicyOfADirectoryWithFlagsOverIt) {
  const std::string path = checkpoint_directory("act_keypoints").string();
  const TrainCommand command = parse({"--dataset.root=x", "--policy.path=" + path, "--policy.dropout=0.25",
                                      "--output_dir=/no-such-directory-here/run"});
  EXPECT_EQ(act(command).dim_model, 64);
  EXPECT_EQ(act(command).dropout, 0.25);
  EXPECT_EQ(act(command).pretrained_path, path);
  EXPECT_FALSE(command.device_typed);
}

TEST(PolicyPath, MayStandInAFile) {
  TemporaryDirectory here;
  fs::copy(checkpoint_directory("act_keypoints"), "policy");
  here.write(
      "mine.json",
      R"({"dataset": {"root": "d"}, "output_dir": "o", "policy": {"path": "policy", "dropout": 0.25, "kl_weight": 1}})");
  const TrainCommand command = parse({"--config_path=mine.json", "--policy.kl_weight=2"});
  EXPECT_EQ(act(command).dim_model, 64);
  EXPECT_EQ(act(command).dropout, 0.25);
  EXPECT_EQ(act(command).kl_weight, 2);
  EXPECT_EQ(act(command).pretrained_path, "policy");
}

TEST(PolicyPath, RefusalsSayWhatIsWrong) {
  TemporaryDirectory here;
  const Arguments basics{"--dataset.root=x", "--output_dir=o"};
  const auto message = [&](const Arguments& more) {
    Arguments all = basics;
    all.insert(all.end(), more.begin(), more.end());
    return refusal_of(all).message;
  };
  EXPECT_THAT(message({"--policy.path=org/name"}), HasSubstr("hub"));
  EXPECT_THAT(message({"--policy.path=/no/such"}), HasSubstr("no such directory"));
  fs::create_directories("run/checkpoints/000001");
  fs::copy(checkpoint_directory("act_keypoints"), "run/checkpoints/000001/pretrained_model");
  EXPECT_THAT(message({"--policy.path=run/checkpoints/000001"}),
              HasSubstr("--policy.path=run/checkpoints/000001/pretrained_model"));
  EXPECT_THAT(message({"--policy.path=run/checkpoints/000001/pretrained_model", "--policy.type=act"}),
              HasSubstr("--policy.type"));
  EXPECT_THAT(message({"--policy.path=run/checkpoints/000001/pretrained_model", "--policy.horizon=1"}),
              HasSubstr("--policy.horizon: there is no such setting"));
}

TEST(PolicyConfigFile, ATypeThatIsMissingComesFromTheFileBesideIt) {
  TemporaryDirectory here;
  const std::string text =
      replaced(read_all(checkpoint_directory("act_keypoints") / "config.json"), "\"type\": \"act\",", "");
  here.write("config.json", text);
  try {
    read_policy_config("config.json");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("type: is missing, needed one of act"));
  }
  fs::copy(checkpoint_directory("act_keypoints") / "train_config.json", "train_config.json");
  PolicyConfig policy;
  EXPECT_THAT(logged([&] { policy = read_policy_config("config.json"); }), HasSubstr("has no type"));
  EXPECT_EQ(type_name(policy), "act");
}

TEST(PolicyConfigFile, UnreadableFilesAreNamed) {
  TemporaryDirectory here;
  here.write("config.json", "{\"type\": \"pi0\"}");
  try {
    read_policy_config("config.json");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("config.json: type: found pi0, which is not supported yet"));
  }
  EXPECT_THROW(read_policy_config("missing.json"), Error);
}

}  // namespace
}  // namespace lerobot::config
