#include "host/policy/position.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <numbers>

namespace lerobot::policy {
namespace {

constexpr double kTemperature = 10000.0;

// (n) -> (n, width / 2): sines and cosines of 1..n scaled to (0, 2 pi], interleaved. Float32 throughout, as Python
// does.
at::Tensor axis_positions(std::int64_t n, std::int64_t half_width) {
  const at::Tensor place = at::arange(1, n + 1, at::kFloat);
  const at::Tensor scaled = place / (place.slice(0, n - 1) + 1e-6) * (2 * std::numbers::pi);
  const at::Tensor index = at::arange(half_width, at::kFloat).div(2, "floor");
  const at::Tensor frequency = at::pow(kTemperature, index * 2 / half_width);
  const at::Tensor angle = scaled.unsqueeze(1) / frequency;
  return at::stack({angle.slice(1, 0, half_width, 2).sin(), angle.slice(1, 1, half_width, 2).cos()}, 2).flatten(1);
}

}  // namespace

at::Tensor sinusoidal_positions(std::int64_t length, std::int64_t width) {
  at::Tensor table = at::empty({length, width}, at::kFloat);
  float* out = table.mutable_data_ptr<float>();
  for (std::int64_t p = 0; p < length; ++p) {
    for (std::int64_t j = 0; j < width; ++j) {
      const double exponent = static_cast<double>(2 * (j / 2)) / static_cast<double>(width);
      const double angle = static_cast<double>(p) / std::pow(kTemperature, exponent);
      *out++ = static_cast<float>(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

at::Tensor sinusoidal_positions_2d(std::int64_t height, std::int64_t columns, std::int64_t width) {
  const std::int64_t half = width / 2;
  const at::Tensor y = axis_positions(height, half).unsqueeze(1).expand({height, columns, half});
  const at::Tensor x = axis_positions(columns, half).unsqueeze(0).expand({height, columns, half});
  return at::cat({y, x}, 2).permute({2, 0, 1}).unsqueeze(0).contiguous();
}

}  // namespace lerobot::policy
