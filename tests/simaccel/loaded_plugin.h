// The simulated accelerator in this process, its table of functions at hand.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>
#include <lerobot_accel.h>

#include <vector>

namespace lerobot::simaccel {

/// A zeroed struct of the contract with its size set.
template <typename Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

/// A test around one context of the plugin.
class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Expects LRA_OK; a failure shows the plugin's message.
  void expect_ok(lra_status status);

  lra_api api_{};
  lra_context* context_ = nullptr;
  lra_error error_ = sized<lra_error>();
};

/// The elements of a tensor on any device.
std::vector<float> values(const at::Tensor& tensor);

}  // namespace lerobot::simaccel
