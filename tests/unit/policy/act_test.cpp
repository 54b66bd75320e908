#include "host/policy/act.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "host/base/error.h"
#include "host/policy/transformer.h"

namespace lerobot::policy {
namespace {

using config::FeatureType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

config::ActConfig small_config() {
  config::ActConfig config;
  config.input_features["observation.environment_state"] = {FeatureType::kEnv, {5}};
  config.output_features["action"] = {FeatureType::kAction, {3}};
  config.chunk_size = config.n_action_steps = 4;
  config.dim_model = 16;
  config.n_heads = 2;
  config.dim_feedforward = 24;
  config.latent_dim = 6;
  config.n_encoder_layers = config.n_vae_encoder_layers = 2;
  return config;
}

Batch small_batch(const config::ActConfig& config, std::int64_t b = 2) {
  Batch batch;
  for (const auto& [name, feature] : config.input_features) {
    std::vector<std::int64_t> shape = feature.shape;
    shape.insert(shape.begin(), b);
    batch[name] = at::randn(shape);
  }
  batch["action"] = at::randn({b, config.chunk_size, 3});
  batch["action_is_pad"] = at::zeros({b, config.chunk_size}, at::kBool);
  return batch;
}

/// An odd mix of inputs and settings in each.
std::vector<config::ActConfig> mixed_configs() {
  std::vector<config::ActConfig> configs(6, small_config());
  configs[0].pre_norm = true;
  configs[1].use_vae = false;
  configs[2].input_features["observation.state"] = {FeatureType::kState, {2}};
  configs[3].input_features = {{"observation.images.wide", {FeatureType::kVisual, {3, 64, 96}}},
                               {"observation.images.tall", {FeatureType::kVisual, {3, 70, 33}}},
                               {"observation.state", {FeatureType::kState, {2}}}};
  configs[4].feedforward_activation = "gelu";
  configs[4].n_decoder_layers = 2;
  configs[5].pre_norm = true;
  configs[5].n_decoder_layers = 3;
  configs[5].dropout = 0;
  return configs;
}

class AnyKernels : public ::testing::TestWithParam<Kernels> {};
INSTANTIATE_TEST_SUITE_P(Act, AnyKernels, ::testing::Values(Kernels::kReference, Kernels::kFast),
                         [](const auto& each) { return each.param == Kernels::kFast ? "Fast" : "Reference"; });

TEST_P(AnyKernels, TrainWithAnyMixOfInputsAndSettings) {
  const Kernels kernels = GetParam();
  const std::vector<config::ActConfig> configs = mixed_configs();
  for (const config::ActConfig& config : configs) {
    SCOPED_TRACE(&config - configs.data());
    const auto policy = make_policy(config, at::kCPU, kernels);
    const Loss loss = policy->forward(small_batch(config));
    EXPECT_EQ(loss.parts.contains("kld_loss"), config.use_vae);
    EXPECT_FALSE(loss.parts.find("l1_loss")->requires_grad());
    loss.total.backward();
    for (const auto& [name, parameter] : policy->parameters()) {
      ASSERT_TRUE(parameter.grad().defined()) << name;
      EXPECT_TRUE(parameter.grad().isfinite().all().item<bool>()) << name;
    }
    EXPECT_THAT(policy->predict_action_chunk(small_batch(config)).sizes().vec(), ElementsAre(2, 4, 3));
  }
}

/// Loss and gradients of a policy for a batch, without dropout.
std::pair<double, OrderedMap<at::Tensor>> gradients(const config::ActConfig& config,
                                                    const OrderedMap<at::Tensor>& state, const Batch& batch,
                                                    Kernels kernels) {
  const auto policy = make_policy(config, at::kCPU, kernels);
  load_state(*policy, state);
  static_cast<ActPolicy&>(*policy).set_noise_source([](const at::Tensor& like) { return at::full_like(like, 0.3); });
  const Loss loss = policy->forward(batch);
  loss.total.backward();
  OrderedMap<at::Tensor> all;
  for (const auto& [name, parameter] : policy->parameters()) all.append(name, parameter.grad());
  return {loss.total.item<double>(), all};
}

// What fast kernels leave out (the last layer of the variational encoder beyond its class token, the decoder's first
// self-attention for its zero input, actions that are padding) has no influence, and every parameter still gets its
// gradient.
TEST(FastKernels, HaveTheLossAndGradientsOfTheReference) {
  for (config::ActConfig config : mixed_configs()) {
    config.dropout = 0;
    const OrderedMap<at::Tensor> state = make_policy(config, at::kCPU)->state_dict();
    Batch batch = small_batch(config, 3);
    batch["action_is_pad"].select(0, 0).slice(0, 1).fill_(true);
    batch["action_is_pad"].select(0, 1).slice(0, 3).fill_(true);
    const auto [loss, found] = gradients(config, state, batch, Kernels::kFast);
    const auto [reference_loss, expected] = gradients(config, state, batch, Kernels::kReference);
    EXPECT_NEAR(loss, reference_loss, 1e-5 * reference_loss);
    double largest = 0;
    for (const auto& [name, gradient] : expected) largest = std::max(largest, gradient.abs().max().item<double>());
    for (const auto& [name, gradient] : found) {
      ASSERT_TRUE(gradient.defined()) << name;
      EXPECT_LT((gradient - *expected.find(name)).abs().max().item<double>(), 1e-5 * largest) << name;
    }
  }
}

TransformerShape small_shape(bool pre_norm) {
  return {.width = 16, .heads = 2, .feedforward = 24, .dropout = 0, .pre_norm = pre_norm};
}

TEST(FastKernels, FirstTokenIsTheFirstOfAllTokens) {
  const at::NoGradGuard no_grad;
  for (const auto& [pre_norm, layers, padded_from] :
       {std::tuple{false, 2, 3}, {true, 2, 1}, {false, 1, 2}, {true, 1, 5}, {false, 0, 2}}) {
    const Encoder encoder(layers, small_shape(pre_norm));
    const at::Tensor x = at::randn({5, 3, 16}), positions = at::randn({5, 1, 16});
    at::Tensor is_padded = at::zeros({3, 5}, at::kBool);
    is_padded.select(0, 1).slice(0, padded_from).fill_(true);
    const auto pass = make_pass(Kernels::kFast, /*training=*/false, 0);
    const at::Tensor all = encoder(x, positions, padding_mask(is_padded, 2, at::kFloat), *pass);
    const at::Tensor first = encoder.first_token(x, positions, is_padded, *pass);
    ASSERT_THAT(first.sizes().vec(), ElementsAre(1, 3, 16));
    EXPECT_TRUE(first.allclose(all.narrow(0, 0, 1), 1e-5, 1e-5)) << layers << " layers, padded from " << padded_from;
  }
}

TEST(FastKernels, DecoderFromZeroIsTheDecoderOfAZeroInput) {
  const at::NoGradGuard no_grad;
  at::Tensor is_unwanted = at::zeros({3, 4}, at::kBool);
  is_unwanted.select(0, 0).slice(0, 1).fill_(true);
  is_unwanted.select(0, 2).slice(0, 3).fill_(true);
  const TokenRows wanted(is_unwanted);
  for (const auto& [pre_norm, layers] : {std::pair{false, 1}, {true, 1}, {false, 2}, {true, 2}}) {
    Decoder decoder(layers, small_shape(pre_norm));
    for (DecoderLayer& layer : decoder.layers) {
      layer.norm1.bias.normal_();  // 0 when new, and so is that of the values
      layer.self_attn.in_proj_bias.normal_();
    }
    const at::Tensor positions = at::randn({4, 1, 16});
    const Memory memory{at::randn({6, 3, 16}), at::randn({6, 1, 16})};
    const auto pass = make_pass(Kernels::kFast, /*training=*/false, 0);
    const at::Tensor general = decoder(at::zeros({4, 3, 16}), positions, memory, *pass);
    EXPECT_TRUE(decoder.from_zero(positions, memory, {}, *pass).allclose(general, 1e-5, 1e-5));
    const at::Tensor rows = decoder.from_zero(positions, memory, wanted, *pass);
    ASSERT_THAT(rows.sizes().vec(), ElementsAre(8, 1, 16));
    EXPECT_TRUE(rows.allclose(wanted.pack(general), 1e-5, 1e-5)) << layers << " layers";
  }
}

/// What a small step along the gradient changes the loss by, over what the gradient says: 1, but for curvature.
double slope_over_gradient(Policy& policy, const Batch& batch) {
  const auto loss = [&] {
    at::manual_seed(5);  // the same masks each time
    return policy.forward(batch).total;
  };
  loss().backward();
  double squares = 0;
  std::vector<at::Tensor> directions;
  for (const auto& [name, parameter] : policy.parameters()) {
    directions.push_back(parameter.grad().clone());
    squares += directions.back().square().sum().item<double>();
  }
  const double step = 1e-4 / std::sqrt(squares);
  const auto loss_after = [&](double distance) {
    const at::NoGradGuard no_grad;
    std::size_t i = 0;
    for (const auto& [name, parameter] : policy.parameters()) at::Tensor(parameter).add_(directions[i++], distance);
    return loss().item<double>();
  };
  const double above = loss_after(step), below = loss_after(-2 * step);
  return (above - below) / (2 * step) / squares;
}

TEST(FastKernels, HaveTheGradientThatFiniteDifferencesShowUnderDropout) {
  config::ActConfig config = small_config();
  config.dropout = 0.1;
  double sum = 0;
  constexpr int kSeeds = 6;
  for (int seed = 0; seed < kSeeds; ++seed) {
    at::manual_seed(seed);
    const auto policy = make_policy(config, at::kCPU, Kernels::kFast);
    static_cast<ActPolicy&>(*policy).set_noise_source([](const at::Tensor& like) { return at::full_like(like, 0.3); });
    const double ratio = slope_over_gradient(*policy, small_batch(config, 3));
    EXPECT_NEAR(ratio, 1, 4e-2) << seed;
    sum += ratio;
  }
  EXPECT_NEAR(sum / kSeeds, 1, 1.5e-2);
}

TEST(FastKernels, DrawTheirMasksFromTorchsGenerator) {
  config::ActConfig config = small_config();
  config.use_vae = false;
  config.dropout = 0.5;
  const auto policy = make_policy(config, at::kCPU, Kernels::kFast);
  const Batch batch = small_batch(config);
  const auto loss = [&] { return policy->forward(batch).total.item<double>(); };
  at::manual_seed(5);
  const double first = loss(), second = loss();
  EXPECT_NE(first, second) << "each pass has masks of its own";
  at::manual_seed(5);
  EXPECT_EQ(loss(), first);
  EXPECT_EQ(loss(), second);
  policy->set_training(false);
  EXPECT_EQ(loss(), loss()) << "nothing is dropped outside training";
}

/// bfloat16 autocast on the CPU.
struct Bf16Autocast {
  Bf16Autocast() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::increment_nesting();
  }
  ~Bf16Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }
};

TEST(Act, LearnsUnderAutocastWithItsWeightsAndGradientsInFloat32) {
  for (const bool use_vae : {true, false}) {
    config::ActConfig config = small_config();
    config.use_vae = use_vae;
    const auto policy = make_policy(config, at::kCPU);
    policy->set_training(true);
    Loss loss;
    {
      const Bf16Autocast autocast;
      loss = policy->forward(small_batch(config));
    }
    EXPECT_EQ(loss.total.scalar_type(), at::kFloat);
    loss.total.backward();
    for (const auto& [name, parameter] : policy->parameters()) {
      EXPECT_EQ(parameter.scalar_type(), at::kFloat) << name;
      if (parameter.grad().defined()) {
        EXPECT_EQ(parameter.grad().scalar_type(), at::kFloat) << name;
      }
    }
  }
}

TEST(Attention, TakesQueriesKeysAndValuesOfDifferentTypesUnderAutocast) {
  const at::NoGradGuard no_grad;
  const Attention weights(16, 2);
  const at::Tensor x = at::randn({3, 2, 16});
  const auto pass = make_pass(Kernels::kReference, /*training=*/false, 0);
  const at::Tensor exact = attention(weights, x, x, x, {}, *pass).product;
  const Bf16Autocast autocast;
  const at::Tensor mixed = attention(weights, x, x, x.to(at::kBFloat16), {}, *pass).product;
  EXPECT_EQ(mixed.scalar_type(), at::kBFloat16) << "the matrix products ran in bfloat16";
  EXPECT_LT((mixed.to(at::kFloat) - exact).abs().max().item<float>(), 0.05F);
}

TEST(Act, HasTheTensorsOfItsInputsOnly) {
  config::ActConfig config = small_config();
  config.use_vae = false;
  const auto policy = make_policy(config, at::kCPU);
  EXPECT_FALSE(policy->has_backbone());
  for (const auto& [name, tensor] : policy->state_dict()) {
    EXPECT_FALSE(name.starts_with("model.vae")) << name;
    EXPECT_FALSE(name.starts_with("model.backbone")) << name;
  }
  EXPECT_EQ(policy->state_dict().find("model.encoder_1d_feature_pos_embed.weight")->size(0), 2);
  EXPECT_FALSE(policy->state_dict().contains("model.encoder.norm.weight"));
  config.pre_norm = true;
  EXPECT_TRUE(make_policy(config, at::kCPU)->state_dict().contains("model.encoder.norm.weight"));
}

TEST(Act, CountsValidActionsOnlyInItsL1Loss) {
  config::ActConfig config = small_config();
  config.chunk_size = config.n_action_steps = 10;
  const auto policy = make_policy(config, at::kCPU);
  policy->set_training(false);
  Batch batch = small_batch(config);
  // Error 1 where it counts, and a large one where it does not.
  batch["action"] = policy->predict_action_chunk(batch).add(1);
  batch["action_is_pad"].slice(1, 3).fill_(true);
  batch["action"].slice(1, 3).add_(100);
  EXPECT_NEAR(policy->forward(batch).total.item<double>(), 1.0, 1e-6);
  batch["action_is_pad"].fill_(true);
  EXPECT_EQ(policy->forward(batch).total.item<double>(), 0.0);
}

TEST(Act, DoesNotLookAtPaddedActions) {
  const config::ActConfig config = small_config();
  const auto policy = make_policy(config, at::kCPU);
  Batch batch = small_batch(config);
  batch["action_is_pad"].slice(1, 2).fill_(true);
  const auto loss = [&] {
    at::manual_seed(3);
    return policy->forward(batch).total.item<double>();
  };
  const double before = loss();
  batch["action"].slice(1, 2).fill_(50);
  EXPECT_EQ(loss(), before);
}

TEST(Act, TakesActionsFromTheQueueUntilItIsEmptyAndForgetsThemOnReset) {
  config::ActConfig config = small_config();
  config.n_action_steps = 2;
  const auto policy = make_policy(config, at::kCPU);
  const Batch first = small_batch(config), second = small_batch(config);
  const at::Tensor a = policy->predict_action_chunk(first), b = policy->predict_action_chunk(second);
  EXPECT_TRUE(policy->select_action(first).equal(a.select(1, 0)));
  EXPECT_TRUE(policy->select_action(second).equal(a.select(1, 1)));
  EXPECT_TRUE(policy->select_action(second).equal(b.select(1, 0)));
  policy->reset();
  EXPECT_TRUE(policy->select_action(first).equal(a.select(1, 0)));
}

TEST(Act, SwitchesToEvaluationModeToPredict) {
  const config::ActConfig config = small_config();
  const auto policy = make_policy(config, at::kCPU);
  const Batch batch = small_batch(config);
  policy->set_training(true);
  EXPECT_TRUE(policy->predict_action_chunk(batch).equal(policy->predict_action_chunk(batch)));
}

TEST(TemporalEnsembler, GivesPythonsWeightedMeans) {
  TemporalEnsembler ensembler(0.01, 4);
  const std::vector<double> expected{0.0, 5.4775000, 10.9400015, 16.3875046, 26.3875027, 36.3875008};
  const auto chunk = [](double t) { return at::tensor({t, t + 1, t + 2, t + 3}, at::kFloat).view({1, 4, 1}); };
  for (int round = 0; round < 2; ++round) {
    for (std::size_t t = 0; t < expected.size(); ++t) {
      EXPECT_NEAR(ensembler.update(chunk(10.0 * static_cast<double>(t))).item<double>(), expected[t], 2e-6);
    }
    ensembler.reset();
  }
}

TEST(TemporalEnsembler, IsUsedBySelectActionWhenItIsConfigured) {
  config::ActConfig config = small_config();
  config.temporal_ensemble_coeff = 0.01;
  config.n_action_steps = 1;
  const auto policy = make_policy(config, at::kCPU);
  const Batch first = small_batch(config), second = small_batch(config);
  TemporalEnsembler ensembler(0.01, config.chunk_size);
  for (const Batch& batch : {first, second}) {
    EXPECT_TRUE(policy->select_action(batch).equal(ensembler.update(policy->predict_action_chunk(batch))));
  }
  policy->reset();
  EXPECT_TRUE(policy->select_action(first).equal(policy->predict_action_chunk(first).select(1, 0)));
}

TEST(Act, RefusesSettingsThatItCannotHonourAndNamesTheFlag) {
  const auto refuse = [](const std::function<void(config::ActConfig&)>& spoil) {
    config::ActConfig config = small_config();
    spoil(config);
    return message_of([&] { make_policy(config, at::kCPU); });
  };
  EXPECT_THAT(refuse([](auto& c) { c.vision_backbone = "resnet50"; }),
              HasSubstr("--policy.vision_backbone: found resnet50"));
  EXPECT_THAT(refuse([](auto& c) { c.replace_final_stride_with_dilation = 1; }),
              HasSubstr("--policy.replace_final_stride_with_dilation"));
  EXPECT_THAT(refuse([](auto& c) { c.n_obs_steps = 2; }), HasSubstr("--policy.n_obs_steps: found 2, needed 1"));
  EXPECT_THAT(refuse([](auto& c) { c.n_action_steps = 5; }),
              HasSubstr("--policy.n_action_steps: found 5, needed at most"));
  EXPECT_THAT(refuse([](auto& c) { c.temporal_ensemble_coeff = 0.01; }),
              HasSubstr("--policy.n_action_steps: found 4, needed 1"));
  EXPECT_THAT(refuse([](auto& c) { c.n_heads = 3; }), HasSubstr("--policy.dim_model: found 16"));
  EXPECT_THAT(refuse([](auto& c) { c.chunk_size = 0; }), HasSubstr("--policy.chunk_size: found 0"));
  EXPECT_THAT(refuse([](auto& c) { c.feedforward_activation = "glu"; }),
              HasSubstr("--policy.feedforward_activation: found glu"));
  EXPECT_THAT(refuse([](auto& c) { c.dropout = 1; }), HasSubstr("--policy.dropout"));
  EXPECT_THAT(refuse([](auto& c) { c.input_features.clear(); }),
              HasSubstr("neither a camera nor observation.environment_state"));
  EXPECT_THAT(refuse([](auto& c) { c.output_features.clear(); }), HasSubstr("found no action"));
  EXPECT_THAT(refuse([](auto& c) {
                c.input_features["observation.image"] = {FeatureType::kVisual, {1, 96, 96}};
              }),
              HasSubstr("observation.image: found shape (1, 96, 96), needed (3, height, width)"));
  EXPECT_THAT(message_of([] { make_policy(config::DiffusionConfig{}, at::kCPU); }),
              HasSubstr("--policy.type: found diffusion"));
}

TEST(Act, RefusesABatchThatDoesNotFitAndNamesTheTensor) {
  const config::ActConfig config = small_config();
  const auto policy = make_policy(config, at::kCPU);
  Batch batch = small_batch(config);
  batch["action"] = at::zeros({2, 3, 3});
  EXPECT_THAT(message_of([&] { policy->forward(batch); }),
              HasSubstr("action: found shape (2, 3, 3) in the batch, needed (2, 4, 3)"));
  batch.erase("action");
  EXPECT_THAT(message_of([&] { policy->forward(batch); }), HasSubstr("action: found nothing in the batch"));
  batch.erase("observation.environment_state");
  EXPECT_THAT(message_of([&] { policy->forward(batch); }), HasSubstr("observation.environment_state: found nothing"));
}

TEST(LoadState, ReportsNamesAndRefusesShapes) {
  const auto policy = make_policy(small_config(), at::kCPU);
  OrderedMap<at::Tensor> state;
  for (const auto& [name, tensor] : policy->state_dict()) {
    if (name != "model.action_head.bias") state.append(name, at::full_like(tensor, 0.25));
  }
  state["model.other"] = at::ones({1});
  const LoadReport report = load_state(*policy, state);
  EXPECT_THAT(report.missing, ElementsAre("model.action_head.bias"));
  EXPECT_THAT(report.unexpected, ElementsAre("model.other"));
  EXPECT_EQ(policy->state_dict().find("model.action_head.weight")->min().item<float>(), 0.25F);
  EXPECT_TRUE(policy->parameters().find("model.action_head.weight")->requires_grad());

  state["model.action_head.weight"] = at::zeros({3, 17});
  EXPECT_THAT(message_of([&] { load_state(*policy, state); }),
              HasSubstr("model.action_head.weight: found shape (3, 17) in the weights, needed (3, 16)"));
}

config::ActConfig camera_config() {
  config::ActConfig config = small_config();
  config.input_features = {{"observation.image", {FeatureType::kVisual, {3, 64, 64}}}};
  return config;
}

TEST(LoadBackbone, CopiesEveryTensorAndTakesTheNewStatisticsIntoUse) {
  const auto policy = make_policy(camera_config(), at::kCPU), other = make_policy(camera_config(), at::kCPU);
  OrderedMap<at::Tensor> weights;
  for (const auto& [name, tensor] : other->state_dict()) {
    if (name.starts_with("model.backbone.")) weights.append(name.substr(15), tensor);
  }
  weights.find("bn1.running_mean")->fill_(0.3);
  weights.find("layer4.1.bn2.running_var")->fill_(4.0);
  weights["fc.weight"] = at::zeros({1000, 512});
  weights["bn1.num_batches_tracked"] = at::zeros({}, at::kLong);
  policy->load_backbone(weights);
  for (const auto& [name, tensor] : weights) {
    if (name.starts_with("fc") || name.ends_with("num_batches_tracked")) continue;
    EXPECT_TRUE(policy->state_dict().find("model.backbone." + name)->equal(tensor)) << name;
  }
  // The same weights through load_state give the same actions.
  const auto third = make_policy(camera_config(), at::kCPU);
  load_state(*third, policy->state_dict());
  const Batch batch = small_batch(camera_config());
  EXPECT_TRUE(third->predict_action_chunk(batch).equal(policy->predict_action_chunk(batch)));
  EXPECT_FALSE(other->predict_action_chunk(batch).equal(policy->predict_action_chunk(batch)));

  weights["conv1.weight"] = at::zeros({64, 1, 7, 7});
  EXPECT_THAT(message_of([&] { policy->load_backbone(weights); }),
              HasSubstr("conv1.weight: found shape (64, 1, 7, 7)"));
  EXPECT_THAT(message_of([&] { policy->load_backbone({}); }), HasSubstr("conv1.weight: found no such tensor"));
}

}  // namespace
}  // namespace lerobot::policy
