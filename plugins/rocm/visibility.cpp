#include "visibility.h"

namespace lerobot::plugins::rocm {
namespace {

/// HIP reads CUDA's variable when its own is unset or empty.
bool cuda_applies(const Visibility& visibility) {
  return visibility.cuda.set && visibility.hip.value.empty();
}

void append(std::string& text, const std::string& part, const char* separator) {
  text += (text.empty() ? "" : separator) + part;
}

std::string assignment(const char* name, const sdk::Variable& variable) {
  return std::string(name) + "=" + variable.value;
}

}  // namespace

Visibility visibility_from_environment() {
  return {sdk::environment("ROCR_VISIBLE_DEVICES"), sdk::environment("HIP_VISIBLE_DEVICES"),
          sdk::environment("CUDA_VISIBLE_DEVICES")};
}

std::string applied_variables(const Visibility& visibility) {
  std::string text;
  if (visibility.rocr.set) append(text, assignment("ROCR_VISIBLE_DEVICES", visibility.rocr), ", then ");
  if (cuda_applies(visibility)) {
    append(text, assignment("CUDA_VISIBLE_DEVICES", visibility.cuda), ", then ");
  } else if (visibility.hip.set) {
    append(text, assignment("HIP_VISIBLE_DEVICES", visibility.hip), ", then ");
  }
  return text;
}

std::string visibility_remark(const Visibility& visibility) {
  std::string remark;
  const bool several = visibility.rocr.set && (visibility.hip.set || visibility.cuda.set);
  if (several) append(remark, applied_variables(visibility) + ": the second counts what the first leaves", "; ");
  if (cuda_applies(visibility)) {
    append(remark, assignment("CUDA_VISIBLE_DEVICES", visibility.cuda) + " is honoured; prefer HIP_VISIBLE_DEVICES",
           "; ");
  } else if (visibility.cuda.set) {
    append(remark, "HIP_VISIBLE_DEVICES overrides " + assignment("CUDA_VISIBLE_DEVICES", visibility.cuda), "; ");
  }
  return remark;
}

}  // namespace lerobot::plugins::rocm
