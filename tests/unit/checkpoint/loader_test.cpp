#include "host/checkpoint/loader.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <limits>

#include "host/checkpoint/layout.h"
#include "host/checkpoint/rng_state.h"
#include "host/checkpoint/tensor_file.h"
#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Loader : public CheckpointTest {
 protected:
  /// What loading says; "loaded" when it works.
  static std::string verdict(const fs::path& checkpoint) {
    try {
      load(checkpoint);
      return "loaded";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      return error.what();
    }
  }
};

constexpr const char* kNormalizer = "policy_preprocessor_step_3_normalizer_processor.safetensors";

TEST_F(Loader, ReadsPythonsCheckpoint) {
  const Checkpoint checkpoint = load(python_checkpoint());
  EXPECT_EQ(checkpoint.position,
            (TrainingStep{
                .step = 20, .dp_world_size = 1, .batch_size = 8, .grad_accum_steps = 1, .parallelism = Parallelism{}}));
  EXPECT_EQ(checkpoint.model.size(), 134U);
  EXPECT_EQ(checkpoint.optimizer.size(), 399U);
  EXPECT_EQ(checkpoint.optimizer.find("state/0/step")->dim(), 0);
  EXPECT_EQ(checkpoint.optimizer.find("state/0/step")->item<float>(), 20.0F);
  EXPECT_EQ(checkpoint.optimizer_param_groups.as_array().size(), 2U);
  EXPECT_FALSE(checkpoint.scheduler);
  ASSERT_EQ(checkpoint.processors.size(), 2U);
  EXPECT_EQ(checkpoint.processors[0].name, "policy_preprocessor");
  EXPECT_EQ(checkpoint.processors[0].states.find(kNormalizer)->size(), 110U);
  EXPECT_EQ(checkpoint.rng.size(), 7U);
}

TEST_F(Loader, SaysWhatIsMissing) {
  for (const char* file :
       {"pretrained_model/config.json", "pretrained_model/train_config.json", "pretrained_model/model.safetensors",
        "pretrained_model/policy_preprocessor.json", "pretrained_model/policy_postprocessor.json",
        "training_state/training_step.json", "training_state/rng_state.safetensors",
        "training_state/optimizer_state.safetensors", "training_state/optimizer_param_groups.json"}) {
    const fs::path copy = copy_checkpoint();
    fs::remove(copy / file);
    EXPECT_THAT(verdict(copy), HasSubstr(file));
  }
  EXPECT_THAT(verdict(data("checkpoints/act_pusht/checkpoints/000020")),
              AllOf(HasSubstr("optimizer_state.safetensors: no such file"), HasSubstr("--policy.path=")));
  const fs::path copy = copy_checkpoint();
  EXPECT_THAT(verdict(copy.parent_path() / "000025"), HasSubstr("no such checkpoint. There are: 000020."));
  EXPECT_THAT(verdict(scratch() / "x"), HasSubstr("There are none beside it"));
  fs::remove_all(copy / kTrainingState);
  EXPECT_THAT(verdict(copy), HasSubstr("training_state: no such directory"));
}

TEST_F(Loader, FilesCutShortAreNamed) {
  for (const char* file : {"pretrained_model/model.safetensors", "training_state/optimizer_state.safetensors",
                           "training_state/rng_state.safetensors", "training_state/training_step.json",
                           "training_state/optimizer_param_groups.json", "pretrained_model/policy_preprocessor.json",
                           "pretrained_model/policy_preprocessor_step_3_normalizer_processor.safetensors"}) {
    const fs::path copy = copy_checkpoint();
    fs::resize_file(copy / file, fs::file_size(copy / file) / 2);
    EXPECT_THAT(verdict(copy), HasSubstr(file));
  }
}

TEST_F(Loader, TheScalersAndTheAveragesStateAreOptional) {
  const fs::path copy = copy_checkpoint();
  EXPECT_FALSE(load(copy).scaler);
  EXPECT_FALSE(load(copy).ema);
  rewrite(copy / kTrainingState / kScalerFile, R"({"scale": 512.0})");
  fs::copy_file(data("goldens/ema_state.pt"), copy / kTrainingState / kEmaFile);
  EXPECT_EQ(load(copy).scaler, (boost::json::value{{"scale", 512.0}}));
  EXPECT_EQ(load(copy).ema.value().optimization_step, 14);
  for (const char* bad : {"", "[]", "1.0", R"({"scale": )"}) {
    rewrite(copy / kTrainingState / kScalerFile, bad);
    EXPECT_THAT([&] { load(copy); }, ThrowsMessage<Error>(HasSubstr("scaler_state.json"))) << bad;
  }
  fs::remove(copy / kTrainingState / kScalerFile);
  fs::resize_file(copy / kTrainingState / kEmaFile, 1000);
  EXPECT_THAT([&] { load(copy); }, ThrowsMessage<Error>(HasSubstr("ema_state.pt")));
}

TEST_F(Loader, ShardedCheckpointsAreExplained) {
  const fs::path copy = copy_checkpoint();
  fs::remove(copy / kTrainingState / kOptimizerFile);
  fs::create_directories(copy / kTrainingState / "optimizer_0");
  EXPECT_THAT(verdict(copy), HasSubstr("sharded run"));
  fs::remove(copy / kPretrainedModel / kModelFile);
  fs::create_directories(copy / kPretrainedModel / "pytorch_model_fsdp_0");
  EXPECT_THAT(verdict(copy), HasSubstr("lerobot-convert-dcp"));
}

TEST_F(Loader, EveryStatisticMustBeThereFiniteAndOfItsFeaturesSize) {
  const fs::path copy = copy_checkpoint();
  const fs::path file = copy / kPretrainedModel / kNormalizer;
  const Tensors good = read_tensors(file);
  const auto with = [&](const std::string& name, const std::optional<at::Tensor>& value) {
    Tensors changed;
    for (const auto& [key, tensor] : good) {
      if (key != name) {
        changed.append(key, tensor);
      } else if (value) {
        changed.append(key, *value);
      }
    }
    fs::remove(file);
    write_tensors(file, changed);
    return verdict(copy);
  };
  const auto names = [](const char* what) {
    return AllOf(HasSubstr(kNormalizer), HasSubstr("observation.state.std"), HasSubstr(what));
  };
  EXPECT_THAT(with("observation.state.std", std::nullopt), names("holds no"));
  EXPECT_THAT(with("observation.state.std", at::full({2}, std::numeric_limits<float>::infinity())),
              names("not finite"));
  EXPECT_THAT(with("observation.state.std", at::full({2}, std::numeric_limits<float>::quiet_NaN())),
              names("not finite"));
  EXPECT_THAT(with("observation.state.std", at::zeros({3})), names("has 3 numbers, its feature needs 2"));
  EXPECT_EQ(with("observation.state.q99", std::nullopt), "loaded");  // not what MEAN_STD computes with
  fs::remove(file);
  EXPECT_THAT(verdict(copy), HasSubstr(kNormalizer));
}

TEST_F(Loader, ProcessorFilesOfStrangeFormAreRefused) {
  const auto changed = [&](const std::string& from, const std::string& to) {
    const fs::path copy = copy_checkpoint();
    substitute(copy / kPretrainedModel / "policy_preprocessor.json", from, to);
    return verdict(copy);
  };
  EXPECT_THAT(changed(kNormalizer, "../../x.safetensors"), HasSubstr("state_file is"));
  EXPECT_THAT(changed("\"steps\"", "\"stages\""), HasSubstr("holds no list \"steps\""));
  EXPECT_THAT(changed("MEAN_STD\",\n          \"ACTION", "MEDIAN\",\n          \"ACTION"),
              HasSubstr("norm_map.STATE is MEDIAN"));
  EXPECT_THAT(changed("\"norm_map\"", "\"map\""), HasSubstr("lacks config.features or config.norm_map"));
  EXPECT_THAT(changed("\"shape\": [", "\"shapes\": ["),
              HasSubstr("loaded"));  // ENV has no mode, its shape is not asked for
}

TEST_F(Loader, ACheckpointOlderThanProcessorFilesIsRecognised) {
  const fs::path copy = copy_checkpoint();
  const fs::path model = copy / kPretrainedModel;
  fs::remove(model / "policy_preprocessor.json");
  EXPECT_THAT(verdict(copy), AllOf(HasSubstr("policy_preprocessor.json: no such file"), HasSubstr("Copy it")));
  Tensors weights = load_model(model);
  weights["normalize_inputs.buffer_observation_state.mean"] = at::zeros({2});
  fs::remove(model / kModelFile);
  write_tensors(model / kModelFile, weights);
  EXPECT_THAT(verdict(copy), AllOf(HasSubstr("older than processor files"),
                                   HasSubstr("normalize_inputs.buffer_observation_state.mean"),
                                   HasSubstr("migrate_policy_normalization")));
}

TEST_F(Loader, TheRandomStateNeedsItsSevenEntries) {
  const fs::path copy = copy_checkpoint();
  const fs::path file = copy / kTrainingState / kRngFile;
  Tensors rng = read_tensors(file);
  rng["np_rng_state_index"] = at::zeros({1}, at::kInt);
  fs::remove(file);
  write_tensors(file, rng);
  EXPECT_THAT(verdict(copy), AllOf(HasSubstr("np_rng_state_index"), HasSubstr("Long")));
  fs::remove(file);
  write_tensors(file, {{"torch_rng_state", *rng.find("torch_rng_state")}});
  EXPECT_THAT(verdict(copy), HasSubstr("holds no py_rng_version"));
}

TEST_F(Loader, TensorsOfEveryDtypeComeBack) {
  Tensors tensors;
  for (const at::ScalarType type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                    at::kBFloat16, at::kFloat, at::kDouble}) {
    tensors[c10::toString(type)] = at::full({2, 3}, 1, type);
  }
  tensors["transposed"] = at::zeros({2, 3}).add_(at::full({3}, 2.0)).t();
  tensors["scalar"] = at::full({}, 5.0, at::kFloat);
  tensors["empty"] = at::zeros({0, 4});
  write_tensors(scratch() / "x.safetensors", tensors, {{"format", "pt"}});
  const Tensors again = read_tensors(scratch() / "x.safetensors");
  ASSERT_EQ(again.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(again.find(name)->scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(again.find(name)->equal(tensor)) << name;
  }
  EXPECT_THAT(
      [&] {
        write_tensors(scratch() / "y", {{"c", at::zeros({1}, at::kComplexFloat)}});
      },
      ThrowsMessage<Error>(HasSubstr("ComplexFloat cannot be saved")));
}

}  // namespace
}  // namespace lerobot::checkpoint
