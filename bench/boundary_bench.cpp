// What it costs to call torch through a plugin's table instead of directly, for the gradients of one ACT update.
//   boundary_bench [PAIRS] [PACKAGE]      default: 2000 pairs, the cpu plugin of this build
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "host/accel/accelerator.h"
#include "host/policy/policy.h"
#include "host/precision/tensor_view.h"
#include "tests/support/plugin_in_process.h"

namespace lerobot {
namespace {

/// The number of dimensions of each parameter of ACT with one camera.
std::vector<std::size_t> act_dimensions() {
  config::ActConfig config;
  config.pretrained_backbone_weights.reset();
  config.input_features["observation.state"] = {config::FeatureType::kState, {2}};
  config.input_features["observation.image"] = {config::FeatureType::kVisual, {3, 96, 96}};
  config.output_features["action"] = {config::FeatureType::kAction, {2}};
  std::vector<std::size_t> dimensions;
  for (const auto& [name, tensor] : policy::make_policy(config, at::kCPU)->parameters()) {
    dimensions.push_back(tensor.sizes().size());
  }
  return dimensions;
}

/// One update's unscale, from the gradients as the trainer holds them. Both make the two cells.
struct Cells {
  explicit Cells(at::Device device)
      : found_inf(at::zeros({}, at::TensorOptions(at::kFloat).device(device))),
        inv_scale(at::full({}, 1.0, at::TensorOptions(at::kFloat).device(device))) {}
  at::Tensor found_inf;
  at::Tensor inv_scale;
};

void unscale_directly(const std::vector<at::Tensor>& gradients, at::Device device) {
  Cells cells(device);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, cells.found_inf, cells.inv_scale);
}

void unscale_through(accel::Accelerator& accelerator, const std::vector<at::Tensor>& gradients, at::Device device) {
  const Cells cells(device);
  std::vector<accel::TensorView> views;
  views.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) views.push_back(precision::view_of(gradient));
  accelerator.scaler_unscale(views, precision::view_of(cells.found_inf), precision::view_of(cells.inv_scale));
}

template <typename Function>
double microseconds(Function&& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double quantile(std::vector<double> values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Alternates the two, each first in every other pair. The difference is taken within a pair, so that what else the
/// machine does hits both sides alike.
void measure(accel::Accelerator& accelerator, const std::vector<at::Tensor>& gradients, int pairs) {
  const at::Device device(accelerator.torch_device());
  std::vector<double> direct, through, difference;
  for (int i = -pairs / 10; i < pairs; ++i) {
    double d = 0;
    double t = 0;
    const auto directly = [&] { d = microseconds([&] { unscale_directly(gradients, device); }); };
    if (i % 2 == 0) directly();
    t = microseconds([&] { unscale_through(accelerator, gradients, device); });
    if (i % 2 != 0) directly();
    if (i < 0) continue;  // warm-up
    direct.push_back(d);
    through.push_back(t);
    difference.push_back(t - d);
  }
  std::printf("scaler_unscale of %zu gradients, microseconds, %d pairs\n", gradients.size(), pairs);
  for (const auto& [name, values] :
       {std::pair("direct", direct), std::pair("through the plugin", through), std::pair("difference", difference)}) {
    std::printf("  %-20s median %8.1f   middle half %.1f..%.1f\n", name, quantile(values, 0.5), quantile(values, 0.25),
                quantile(values, 0.75));
  }
}

void run(int pairs, const std::string& library) {
  const auto started = test::start_in_process(library);
  accel::Accelerator& accelerator = *started;
  const at::TensorOptions on_device = at::TensorOptions(at::kFloat).device(at::Device(accelerator.torch_device()));
  // One element each, in as many dimensions as the real ones: what crosses are views, and the time in which the kernel
  // goes through 50 million elements would only hide the cost.
  std::vector<at::Tensor> gradients;
  for (const std::size_t dimensions : act_dimensions()) {
    gradients.push_back(at::full(std::vector<std::int64_t>(dimensions, 1), 1.0, on_device));
  }
  measure(accelerator, gradients, pairs);
}

}  // namespace
}  // namespace lerobot

int main(int argc, char** argv) {
  try {
    const int pairs = argc > 1 ? std::max(std::atoi(argv[1]), 10) : 2000;
    const std::string library = argc > 2 ? argv[2] : lerobot::test::plugin_library("cpu");
    lerobot::run(pairs, library);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "boundary_bench: %s\n", error.what());
    return 1;
  }
}
