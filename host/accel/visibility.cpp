#include "host/accel/visibility.h"

#include <algorithm>

#include "host/base/text.h"

namespace lerobot::accel {
namespace {

bool is_set(const Variables& variables, const std::string& name) {
  return variables.contains(name);
}

bool serves(const Manifest& manifest, std::string_view type) {
  return std::ranges::find(manifest.device_types, type) != manifest.device_types.end();
}

/// Names that are set and that the vendor's runtime reads, in its order.
std::vector<std::string> applied(const Manifest& manifest, const Variables& variables) {
  std::vector<std::string> names;
  if (serves(manifest, "rocm")) {
    names = {"ROCR_VISIBLE_DEVICES"};
    const auto hip = variables.find("HIP_VISIBLE_DEVICES");
    const bool hip_rules =
        hip != variables.end() && (!hip->second.empty() || !is_set(variables, "CUDA_VISIBLE_DEVICES"));
    names.emplace_back(hip_rules ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES");
  } else if (serves(manifest, "cuda")) {
    names = {"CUDA_VISIBLE_DEVICES"};
  } else if (serves(manifest, "xpu")) {
    names = {"ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR"};
  }
  std::erase_if(names, [&](const std::string& name) { return !is_set(variables, name); });
  return names;
}

}  // namespace

std::string visibility_variables(const Manifest& manifest, const Variables& variables) {
  std::vector<std::string> parts;
  for (const std::string& name : applied(manifest, variables)) parts.push_back(name + "=" + variables.at(name));
  return join(parts, ", then ");
}

bool hides_every_device(const Manifest& manifest, const Variables& variables) {
  return std::ranges::any_of(applied(manifest, variables), [&](const std::string& name) {
    return variables.at(name).empty() || variables.at(name) == "-1";
  });
}

}  // namespace lerobot::accel
