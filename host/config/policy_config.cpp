#include "host/config/policy_config.h"

#include <array>

namespace lerobot::config {
namespace {

constexpr std::array<std::string_view, 6> kFeatureTypes{"STATE", "VISUAL", "ENV", "ACTION", "REWARD", "LANGUAGE"};
constexpr std::array<std::string_view, 5> kModes{"MIN_MAX", "MEAN_STD", "IDENTITY", "QUANTILES", "QUANTILE10"};

template <class Enum, std::size_t n>
std::optional<Enum> from_name(const std::array<std::string_view, n>& names, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(FeatureType type) {
  return kFeatureTypes[static_cast<std::size_t>(type)];
}
std::string_view name(NormalizationMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

std::optional<FeatureType> feature_type_from(std::string_view name) {
  return from_name<FeatureType>(kFeatureTypes, name);
}
std::optional<NormalizationMode> normalization_mode_from(std::string_view name) {
  return from_name<NormalizationMode>(kModes, name);
}

PolicyCommon& common(PolicyConfig& policy) {
  return std::visit([](auto& choice) -> PolicyCommon& { return choice; }, policy);
}
const PolicyCommon& common(const PolicyConfig& policy) {
  return std::visit([](const auto& choice) -> const PolicyCommon& { return choice; }, policy);
}
std::string_view type_name(const PolicyConfig& policy) {
  return std::visit([](const auto& choice) { return std::string_view(choice.kType); }, policy);
}
const NormalizationMap& normalization_mapping(const PolicyConfig& policy) {
  return std::visit([](const auto& choice) -> const NormalizationMap& { return choice.normalization_mapping; }, policy);
}

}  // namespace lerobot::config
