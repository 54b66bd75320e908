#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin-api/include/lerobot_accel.h"

namespace lerobot::checker {

/// Element types of the tensors that checks need.
enum class Type { kFloat32, kFloat16, kBFloat16, kInt32, kOther };

/// Operators whose result types autocast decides.
enum class Operator { kMm, kBmm, kAddmm, kLinear, kMatmul, kConv2d, kSoftmax, kLayerNorm, kSum, kAddToLow };

/// A tensor on the device under check.
class Tensor {
 public:
  Tensor() = default;
  virtual ~Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  /// As the contract lends it to a plugin; valid while this object lives.
  virtual lra_tensor_view view() const = 0;

  /// Its elements in row-major order, read back from the device; exact for every Type.
  virtual std::vector<float> values() const = 0;

  /// Another tensor over the same memory: sizes, strides and offset in elements.
  virtual std::unique_ptr<Tensor> strided(const std::vector<std::int64_t>& shape,
                                          const std::vector<std::int64_t>& strides, std::int64_t offset) const = 0;
};

/// Torch on one device, for checks that have no torch of their own. Implemented by liblerobot_checker.so, which is
/// loaded after the plugin has brought its torch. Functions throw std::exception with torch's message.
class Tensors {
 public:
  Tensors() = default;
  virtual ~Tensors() = default;
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  /// A contiguous tensor with these values, rounded to `type`.
  virtual std::unique_ptr<Tensor> make(Type type, const std::vector<std::int64_t>& shape,
                                       const std::vector<float>& values) = 0;

  /// `values` rounded to `type`, by the processor.
  virtual std::vector<float> rounded(Type type, const std::vector<float>& values) = 0;

  /// The type of an operator's result for float32 operands on the device (kAddToLow: a float32 one and one of `low`),
  /// in the calling thread's autocast state.
  virtual Type result_type(Operator what, Type low) = 0;

  /// A float32 weight that training would update: torch caches its casts. The product of a fixed input with it, in the
  /// calling thread's autocast state; scale_weight multiplies it in place.
  virtual std::vector<float> product_with_weight() = 0;
  virtual void scale_weight(float factor) = 0;

  /// The next numbers of the device's default generator.
  virtual std::vector<float> random(std::int64_t count) = 0;

  /// The product of two square float32 matrices of `size` rows on the device, row by row.
  virtual std::vector<float> product(std::int64_t size, const std::vector<float>& a, const std::vector<float>& b) = 0;

  /// Memory that stays allocated while the handle lives.
  virtual std::unique_ptr<Tensor> reserve(std::int64_t bytes) = 0;
};

/// What torch makes of a device string.
struct TorchDevice {
  std::int32_t type = 0;
  std::int32_t index = -1;
  std::string type_name;  ///< lower case, as in the string
};

/// What the one exported C function, lerobot_checker, returns; lives as long as the process.
struct Checker {
  /// Throws std::exception when torch does not know the device.
  TorchDevice (*parse)(const std::string& torch_device);
  std::unique_ptr<Tensors> (*open)(const std::string& torch_device);
};

}  // namespace lerobot::checker
