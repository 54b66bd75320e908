#include "host/train/kernel_choice.h"

#include "host/base/error.h"
#include "host/precision/training_precision.h"

namespace lerobot::train {

KernelChoice choose_kernels(std::string_view asked, const c10::Device& device, accel::Precision precision) {
  const std::string run =
      format("{} in {}", c10::DeviceTypeName(device.type(), /*lower_case=*/true), precision::precision_name(precision));
  const bool possible = device.is_cpu() && precision == accel::Precision::kFloat32;
  if (asked == "reference") return {Kernels::kReference, "as --kernels asks"};
  if (possible) return {Kernels::kFast, asked == "fast" ? "as --kernels asks" : "for " + run};
  if (asked == "fast") {
    fail(ErrorKind::kUsage,
         "--kernels=fast: found a run on {}, needed cpu in float32. Leave it out, and torch's operators are used.",
         run);
  }
  return {Kernels::kReference, "for " + run};
}

}  // namespace lerobot::train
