// The plugin that the conformance suite examines, in the way the host would use it.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>
#include <lerobot_accel.h>

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace lerobot::conformance {

/// The package that LEROBOT_CONFORMANCE_PACKAGE names, else the staged cpu package. Loaded once per process.
class PluginUnderTest {
 public:
  static const PluginUnderTest& get();

  const boost::json::object& manifest() const { return manifest_; }
  lra_probe_fn probe() const { return probe_; }
  lra_get_api_fn get_api() const { return get_api_; }

 private:
  PluginUnderTest();

  boost::json::object manifest_;
  lra_probe_fn probe_;
  lra_get_api_fn get_api_;
};

/// A zeroed struct of the contract with its size set.
template <typename Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

/// A struct followed by bytes that no version knows: zero (allowed) or not (a request that must not be dropped).
template <typename Struct>
struct Longer {
  explicit Longer(const Struct& known, char tail_byte = 0) : value(known) {
    value.struct_size = sizeof(*this);
    tail[5] = tail_byte;
  }
  Struct value;
  char tail[16] = {};
};

/// Host facts that fit the plugin: this test's torch, this compiler.
lra_host_info fitting_host();

/// The plugin's whole table.
lra_api loaded_api();

/// A test around one context. Skips, with the plugin's reason, when there is no device.
class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Expects LRA_OK; a failure shows the plugin's message.
  void expect_ok(lra_status status);
  /// Expects the status, the same code in the error, and a message of one line.
  void expect_refused(lra_status status, lra_status expected);

  at::Tensor on_device(const std::vector<float>& values, at::ScalarType dtype = at::kFloat) const;
  std::vector<float> values(const at::Tensor& tensor) const;
  lra_tensor_view view(const at::Tensor& tensor) const;

  lra_api api_{};
  lra_context* context_ = nullptr;
  lra_device_info device_{};
  lra_error error_ = sized<lra_error>();
};

}  // namespace lerobot::conformance
