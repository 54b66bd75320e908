// Parameters drawn from a seed, a training step with its dropout masks, and inference, against numbers of Python
// LeRobot with ACT's default configuration and synthetic inputs.

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "host/policy/position.h"
#include "tests/parity/policy/golden.h"

namespace lerobot::policy {
namespace {

config::ActConfig default_config() {
  config::ActConfig config;
  config.input_features["observation.state"] = {config::FeatureType::kState, {2}};
  config.input_features["observation.image"] = {config::FeatureType::kVisual, {3, 96, 96}};
  config.output_features["action"] = {config::FeatureType::kAction, {2}};
  return config;
}

Batch synthetic_batch() {
  Batch batch;
  const at::Tensor pixel = at::arange(2 * 3 * 96 * 96);
  batch["observation.state"] = at::linspace(-1, 1, 4).view({2, 2});
  batch["observation.image"] = (pixel.remainder(251).to(at::kDouble) / 125 - 1).to(at::kFloat).view({2, 3, 96, 96});
  batch["action"] = (at::arange(2 * 100 * 2, at::kFloat) * 0.1).sin().view({2, 100, 2});
  batch["action_is_pad"] = at::zeros({2, 100}, at::kBool);
  batch["action_is_pad"].select(0, 1).slice(0, 90).fill_(true);
  return batch;
}

double sum(const at::Tensor& tensor) {
  return tensor.detach().to(at::kDouble).sum().item<double>();
}

class DefaultAct : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    at::manual_seed(1000);
    policy_ = make_policy(default_config(), at::kCPU).release();
    next_random_ = at::rand({2});
  }
  static void TearDownTestSuite() { delete policy_; }

  static Policy* policy_;
  static at::Tensor next_random_;
};
Policy* DefaultAct::policy_ = nullptr;
at::Tensor DefaultAct::next_random_;

TEST_F(DefaultAct, DrawsItsParametersAsPythonDoes) {
  struct Row {
    const char* name;
    double sum;
    std::vector<double> first;
  };
  const std::vector<Row> rows{
      {"model.vae_encoder_pos_enc", 18607.603334, {0, 1, 0}},
      {"model.vae_encoder.layers.0.self_attn.in_proj_weight", 35.485691, {0.0030909, 0.0127606, 0.0278958}},
      {"model.vae_encoder.layers.0.self_attn.out_proj.weight", 7.707580, {-0.0160041, 0.0100375, -0.0051463}},
      {"model.vae_encoder.layers.0.linear1.bias", -1.672017, {0.0111865, -0.0008569, -0.0378339}},
      {"model.vae_encoder_cls_embed.weight", -6.852916, {-0.8266534, 0.8522636, -0.3227071}},
      {"model.backbone.conv1.weight", 2.205711, {0.0215187, -0.0067795, -0.0210921}},
      {"model.backbone.layer4.1.conv2.weight", 56.518900, {-0.0085764, 0.0078079, -0.0118848}},
      {"model.encoder.layers.0.self_attn.in_proj_weight", 13.046920, {0.046083, 0.0415554, -0.0438812}},
      {"model.decoder.layers.0.linear2.weight", 20.724097, {-0.0180704, 0.0357847, 0.0062015}},
      {"model.encoder_img_feat_input_proj.weight", 10.690132, {-0.0143692, 0.0172684, -0.0020423}},
      {"model.encoder_1d_feature_pos_embed.weight", -21.573494, {-1.3586669, 0.1999111, 1.4753654}},
      {"model.decoder_pos_embed.weight", 229.674060, {1.3225822, 0.1465282, 0.6526996}},
      {"model.action_head.weight", -0.970326, {0.0016776}},
      {"model.action_head.bias", -0.051407, {-0.0313616, -0.0200449}},
  };
  const OrderedMap<at::Tensor> state = policy_->state_dict();
  for (const Row& row : rows) {
    const at::Tensor* tensor = state.find(row.name);
    ASSERT_NE(tensor, nullptr) << row.name;
    EXPECT_NEAR(sum(*tensor), row.sum, 1e-6) << row.name;
    for (std::size_t i = 0; i < row.first.size(); ++i) {
      EXPECT_NEAR(tensor->flatten()[static_cast<std::int64_t>(i)].item<double>(), row.first[i], 6e-8) << row.name;
    }
  }
  double all = 0, absolute = 0;
  for (const auto& [name, tensor] : policy_->parameters()) {
    all += sum(tensor);
    absolute += sum(tensor.abs());
  }
  EXPECT_NEAR(all, 10731.107810, 1e-6);
  EXPECT_NEAR(absolute, 1110526.725993, 1e-6);
  EXPECT_FLOAT_EQ(next_random_[0].item<float>(), 0.16635525F);
  EXPECT_FLOAT_EQ(next_random_[1].item<float>(), 0.20383680F);
}

TEST_F(DefaultAct, HasPythonsTensorsInPythonsOrder) {
  const OrderedMap<at::Tensor> state = policy_->state_dict();
  EXPECT_EQ(state.size(), 234U);
  EXPECT_EQ(state.begin()->first, "model.vae_encoder_pos_enc");
  EXPECT_EQ(policy_->parameters().size(), 153U);
  EXPECT_EQ(policy_->num_parameters(), 51588994);
  const std::vector<ParameterGroup> groups = policy_->optim_groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].parameters.size(), 133U);
  EXPECT_EQ(groups[1].parameters.size(), 20U);
  EXPECT_EQ(groups[1].parameters[7].first, "model.backbone.layer2.0.downsample.0.weight");
}

TEST_F(DefaultAct, ComputesPythonsHeldOutLoss) {
  policy_->set_training(false);
  const at::NoGradGuard no_grad;
  const Loss loss = policy_->forward(synthetic_batch());
  EXPECT_NEAR(loss.total.item<double>(), 0.6569988, 2e-6);
  EXPECT_EQ(loss.parts.size(), 1U);
}

TEST_F(DefaultAct, ComputesPythonsTrainingLossWithTheSameSeedsDropoutAndNoise) {
  policy_->set_training(true);
  at::manual_seed(7);
  const Loss loss = policy_->forward(synthetic_batch());
  EXPECT_NEAR(loss.total.item<double>(), 104.5038834, 1e-5 * 104.5);
  EXPECT_NEAR(loss.parts.find("l1_loss")->item<double>(), 0.6642069, 1e-5 * 0.66);
  EXPECT_NEAR(loss.parts.find("kld_loss")->item<double>(), 10.3839674, 1e-5 * 10.4);
  loss.total.backward();
  double squares = 0;
  for (const auto& [name, tensor] : policy_->parameters()) {
    ASSERT_TRUE(tensor.grad().defined()) << name;
    squares += std::pow(golden::norm(tensor.grad()), 2);
    tensor.mutable_grad() = at::Tensor();
  }
  EXPECT_NEAR(std::sqrt(squares), 1721.978638, 1e-4 * 1722);
}

TEST_F(DefaultAct, PredictsPythonsActions) {
  const at::Tensor chunk = policy_->predict_action_chunk(synthetic_batch());
  EXPECT_NEAR(sum(chunk), -78.238415, 1e-3);
  EXPECT_NEAR(chunk[0][0][0].item<double>(), -0.27155355, 1e-5);
  EXPECT_NEAR(chunk[0][0][1].item<double>(), -0.37361741, 1e-5);
  EXPECT_NEAR(chunk[1][99][0].item<double>(), -0.18613583, 1e-5);
  EXPECT_NEAR(chunk[1][99][1].item<double>(), -0.11500601, 1e-5);
}

TEST(Positions, OfAnImageArePythons) {
  const at::Tensor table = sinusoidal_positions_2d(3, 3, 512);
  EXPECT_NEAR(sum(table), 2233.002075, 1e-4);
  const std::vector<double> first{0.8660257, -0.4999994, 0.9293350, -0.3692376};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(table[0][i][0][0].item<double>(), first[i], 1e-7);
    EXPECT_EQ(table[0][256 + i][0][0].item<double>(), table[0][i][0][0].item<double>());
  }
  EXPECT_NEAR(table[0][0][1][0].item<double>(), -0.8660247, 1e-7);
  EXPECT_NEAR(table[0][0][2][0].item<double>(), -1.73e-6, 1e-8);
}

TEST(Positions, OfASequenceArePythonsToTheLastBit) {
  const auto model = golden::tensors("checkpoints/act_keypoints/checkpoints/000020/pretrained_model/model.safetensors");
  EXPECT_TRUE(sinusoidal_positions(12, 64).unsqueeze(0).equal(*model.find("model.vae_encoder_pos_enc")));
}

}  // namespace
}  // namespace lerobot::policy
