#include "host/policy/normalizer.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <limits>

#include "host/base/file.h"
#include "host/base/json.h"
#include "host/checkpoint/tensor_file.h"
#include "host/policy/processor_json.h"

namespace lerobot::policy {
namespace {

using config::FeatureType;
using config::NormalizationMode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const StatsSource kSource{ErrorKind::kCheckpoint, "stats.json"};

at::Tensor floats(std::vector<double> values) {
  return at::tensor(values, at::kFloat);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).abs().max().item<double>();
}

// Three states, of which the last never changes; two actions, the second always 0.5.
Normalization with_constants(NormalizationMode mode) {
  Normalization n;
  n.features["observation.state"] = {FeatureType::kState, {3}};
  n.features["action"] = {FeatureType::kAction, {2}};
  n.norm_map["STATE"] = mode;
  n.norm_map["ACTION"] = mode;
  n.stats["observation.state"]["mean"] = floats({1, 2, 0});
  n.stats["observation.state"]["std"] = floats({0.5, 2, 0});
  n.stats["observation.state"]["min"] = floats({0, -2, 0});
  n.stats["observation.state"]["max"] = floats({2, 6, 0});
  n.stats["action"]["mean"] = floats({10, 0.5});
  n.stats["action"]["std"] = floats({4, 0});
  n.stats["action"]["min"] = floats({2, 0.5});
  n.stats["action"]["max"] = floats({18, 0.5});
  return n;
}

TEST(Normalizer, KeepsConstantDimensionsFiniteAndGivesThemBackExactly) {
  for (const NormalizationMode mode : {NormalizationMode::kMeanStd, NormalizationMode::kMinMax}) {
    const Normalizer normalizer(with_constants(mode), at::kCPU, kSource);
    const at::Tensor action = floats({6, 0.5, 14, 0.5}).view({2, 2});
    const Batch batch =
        normalizer.normalize({{"observation.state", floats({1, 6, 0}).unsqueeze(0)}, {"action", action}});
    EXPECT_TRUE(batch.at("observation.state").isfinite().all().item<bool>());
    EXPECT_TRUE(batch.at("action").isfinite().all().item<bool>());
    const at::Tensor back = normalizer.unnormalize_action(batch.at("action"));
    EXPECT_LT(largest_difference(back, action), 1e-6);
    EXPECT_EQ(back[0][1].item<float>(), 0.5F);
    EXPECT_THAT(normalizer.constant_dimensions(), ElementsAre("observation.state[2]", "action[1]"));
  }
}

TEST(Normalizer, AddsEpsilonToTheDeviationForwardsOnly) {
  Normalization n = with_constants(NormalizationMode::kMeanStd);
  n.eps = 1.0;
  const Normalizer normalizer(n, at::kCPU, kSource);
  const Batch batch = normalizer.normalize({{"action", floats({20, 0.5})}});
  EXPECT_FLOAT_EQ(batch.at("action")[0].item<float>(), 2.0F);
  EXPECT_FLOAT_EQ(normalizer.unnormalize_action(batch.at("action"))[0].item<float>(), 18.0F);
}

TEST(Normalizer, MapsTheBoundsToMinusOneAndOne) {
  Normalization n;
  n.features["action"] = {FeatureType::kAction, {1}};
  n.stats["action"] = {{"min", floats({-4})}, {"max", floats({4})},  {"q01", floats({-2})},
                       {"q99", floats({2})},  {"q10", floats({-1})}, {"q90", floats({1})}};
  const std::vector<std::pair<NormalizationMode, double>> bounds{
      {NormalizationMode::kMinMax, 4}, {NormalizationMode::kQuantiles, 2}, {NormalizationMode::kQuantile10, 1}};
  for (const auto& [mode, bound] : bounds) {
    n.norm_map["ACTION"] = mode;
    const Normalizer normalizer(n, at::kCPU, kSource);
    const at::Tensor action = floats({-bound, 0, bound}).unsqueeze(1);
    const at::Tensor scaled = normalizer.normalize({{"action", action}}).at("action");
    EXPECT_LT(largest_difference(scaled, floats({-1, 0, 1}).unsqueeze(1)), 1e-6);
    EXPECT_LT(largest_difference(normalizer.unnormalize_action(scaled), action), 1e-6);
  }
}

TEST(Normalizer, LeavesTypesWithoutAModeAndUnknownKeysAlone) {
  Normalization n = with_constants(NormalizationMode::kMeanStd);
  n.features["observation.environment_state"] = {FeatureType::kEnv, {2}};
  const Normalizer normalizer(n, at::kCPU, kSource);
  const Batch batch = normalizer.normalize({{"observation.environment_state", floats({5, 6})}, {"index", floats({7})}});
  EXPECT_EQ(batch.at("observation.environment_state")[0].item<float>(), 5.0F);
  EXPECT_EQ(batch.at("index").item<float>(), 7.0F);
}

TEST(Normalizer, RefusesStatisticsThatAreMissingNotFiniteOrOfAnotherShape) {
  const auto refuse = [](const std::function<void(Normalization&)>& spoil) {
    Normalization n = with_constants(NormalizationMode::kMeanStd);
    spoil(n);
    return message_of([&] { Normalizer(n, at::kCPU, kSource); });
  };
  EXPECT_THAT(refuse([](Normalization& n) {
                n.stats["action"] = {{"mean", floats({1, 2})}};
              }),
              HasSubstr("stats.json: action: found no statistic std"));
  EXPECT_THAT(refuse([](Normalization& n) {
                n.stats["action"]["mean"] = floats({1, std::numeric_limits<double>::infinity()});
              }),
              HasSubstr("stats.json: action: found a statistic mean that is not finite"));
  EXPECT_THAT(refuse([](Normalization& n) {
                n.stats["observation.state"]["std"] = floats({1, 2});
              }),
              HasSubstr("stats.json: observation.state: found statistic std of shape (2), needed (3)"));
  // Only what the mode needs is needed.
  EXPECT_EQ(refuse([](Normalization& n) {
              n.stats["action"]["min"] = floats({1, std::numeric_limits<double>::infinity()});
            }),
            "no error");
}

struct Folder {
  std::string path;
  boost::json::value json(std::string_view name) const {
    return lerobot::json::read_file(format("{}/{}", path, name), ErrorKind::kCheckpoint);
  }
  std::string text(std::string_view name) const {
    return read_text(format("{}/{}", path, name), ErrorKind::kCheckpoint);
  }
  OrderedMap<at::Tensor> tensors(std::string_view name) const {
    return checkpoint::read_tensors(format("{}/{}", path, name));
  }
};

void expect_equal(const OrderedMap<at::Tensor>& found, const OrderedMap<at::Tensor>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_NE(found.find(name), nullptr) << name;
    EXPECT_TRUE(found.find(name)->equal(tensor)) << name;
    EXPECT_EQ(found.find(name)->scalar_type(), at::kFloat) << name;
  }
}

TEST(Processors, ReadPythonsFilesAndWriteTheSame) {
  const json::WriteOptions two_spaces{.indent = 2};
  for (const char* name : {"act_keypoints", "act_pusht"}) {
    const Folder folder{format("{}/checkpoints/{}/checkpoints/000020/pretrained_model", LEROBOT_TEST_DATA, name)};
    const OrderedMap<at::Tensor> pre_state = folder.tensors(kPreprocessorState),
                                 post_state = folder.tensors(kPostprocessorState);
    const Normalizer pre(read_normalization(folder.json(kPreprocessorFile), pre_state, kPreprocessorFile), at::kCPU,
                         kSource);
    const Normalizer post(read_normalization(folder.json(kPostprocessorFile), post_state, kPostprocessorFile), at::kCPU,
                          kSource);
    EXPECT_EQ(json::write(preprocessor_json(pre.normalization(), {}, "cpu"), two_spaces),
              folder.text(kPreprocessorFile));
    EXPECT_EQ(json::write(postprocessor_json(post.normalization()), two_spaces), folder.text(kPostprocessorFile));
    expect_equal(pre.state(), pre_state);
    expect_equal(post.state(), post_state);
  }
}

TEST(Processors, NormalizeTheGoldenBatchAsPython) {
  for (const char* name : {"act_keypoints", "act_pusht"}) {
    const Folder folder{format("{}/checkpoints/{}/checkpoints/000020/pretrained_model", LEROBOT_TEST_DATA, name)};
    const Folder golden{format("{}/goldens/{}", LEROBOT_TEST_DATA, name)};
    const Normalizer pre(
        read_normalization(folder.json(kPreprocessorFile), folder.tensors(kPreprocessorState), kPreprocessorFile),
        at::kCPU, kSource);
    Batch raw;
    for (const auto& [key, tensor] : golden.tensors("batch_raw.safetensors")) {
      raw[key] = tensor.scalar_type() == at::kByte ? tensor.to(at::kFloat).div(255) : tensor;
    }
    const Batch batch = pre.normalize(raw);
    for (const auto& [key, tensor] : golden.tensors("batch.safetensors"))
      EXPECT_TRUE(batch.at(key).equal(tensor)) << key;
    const OrderedMap<at::Tensor> inference = golden.tensors("inference.safetensors");
    EXPECT_TRUE(pre.unnormalize_action(*inference.find("chunk")).equal(*inference.find("chunk_unnormalized")));
  }
}

TEST(Processors, RefuseFilesThatTheyCannotHonour) {
  const Folder folder{format("{}/checkpoints/act_pusht/checkpoints/000020/pretrained_model", LEROBOT_TEST_DATA)};
  const auto refuse = [&](const std::function<void(boost::json::value&)>& spoil) {
    boost::json::value pipeline = folder.json(kPreprocessorFile);
    spoil(pipeline);
    return message_of([&] { read_normalization(pipeline, {}, kPreprocessorFile); });
  };
  EXPECT_THAT(refuse([](auto& p) { p.at("steps").at(1).at("registry_name") = "tokenizer_processor"; }),
              HasSubstr("found the step tokenizer_processor"));
  EXPECT_THAT(refuse([](auto& p) { p.at("steps").as_array().pop_back(); }), HasSubstr("found no normalizer step"));
  EXPECT_THAT(refuse([](auto& p) { p.at("steps").at(3).at("config").as_object().erase("norm_map"); }),
              HasSubstr("norm_map: found nothing, needed object"));
  EXPECT_THAT(refuse([](auto& p) { p.at("steps").at(3).at("config").at("norm_map").at("STATE") = "HALF"; }),
              HasSubstr("HALF"));
  EXPECT_THAT(refuse([](auto& p) { p = 3; }), HasSubstr("policy_preprocessor.json: steps: found nothing"));
}

}  // namespace
}  // namespace lerobot::policy
