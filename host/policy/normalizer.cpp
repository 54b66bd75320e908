#include "host/policy/normalizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <utility>

#include "host/base/log.h"
#include "host/policy/shape_text.h"

namespace lerobot::policy {
namespace {

using config::FeatureType;
using config::NormalizationMode;
using config::PolicyFeature;

NormalizationMode mode_of(const PolicyFeature& feature, const config::NormalizationMap& map) {
  const NormalizationMode* mode = map.find(config::name(feature.type));
  return mode == nullptr ? NormalizationMode::kIdentity : *mode;
}

// The two statistics that a mode needs.
std::pair<std::string_view, std::string_view> statistics_of(NormalizationMode mode) {
  switch (mode) {
    case NormalizationMode::kMeanStd:
      return {"mean", "std"};
    case NormalizationMode::kMinMax:
      return {"min", "max"};
    case NormalizationMode::kQuantiles:
      return {"q01", "q99"};
    case NormalizationMode::kQuantile10:
      return {"q10", "q90"};
    case NormalizationMode::kIdentity:
      break;
  }
  fail(ErrorKind::kInternal, "normalization mode {} needs no statistics", config::name(mode));
}

// A statistic of a feature, checked.
const at::Tensor& statistic(const Stats& stats, const std::string& name, const PolicyFeature& feature,
                            std::string_view which, const StatsSource& source) {
  const OrderedMap<at::Tensor>* all = stats.find(name);
  const at::Tensor* found = all == nullptr ? nullptr : all->find(which);
  if (found == nullptr) {
    fail(source.kind, "{}: {}: found no statistic {}, needed it to normalize. Compute the dataset's statistics anew.",
         source.name, name, which);
  }
  const std::vector<std::int64_t> needed =
      feature.type == FeatureType::kVisual ? std::vector<std::int64_t>{feature.shape.front(), 1, 1} : feature.shape;
  if (found->sizes() != c10::IntArrayRef(needed)) {
    fail(source.kind, "{}: {}: found statistic {} of shape {}, needed {}. Compute the dataset's statistics anew.",
         source.name, name, which, shape_text(found->sizes()), shape_text(needed));
  }
  if (!at::isfinite(*found).all().item<bool>()) {
    fail(source.kind,
         "{}: {}: found a statistic {} that is not finite, needed numbers. Compute the dataset's statistics anew.",
         source.name, name, which);
  }
  return *found;
}

/// Inputs and outputs.
config::Features all_features(const config::PolicyConfig& config) {
  const config::PolicyCommon& common = config::common(config);
  config::Features all = common.input_features;
  for (const auto& [name, feature] : common.output_features) all[name] = feature;
  return all;
}

at::Tensor spread(NormalizationMode mode, const at::Tensor& first, const at::Tensor& second) {
  return mode == NormalizationMode::kMeanStd ? second : second - first;
}

}  // namespace

Normalizer::Normalizer(Normalization normalization, const at::Device& device, const StatsSource& source)
    : normalization_(std::move(normalization)) {
  for (auto& [name, all] : normalization_.stats) {
    const PolicyFeature* feature = normalization_.features.find(name);
    const bool visual = feature != nullptr && feature->type == FeatureType::kVisual;
    for (auto& [which, tensor] : all) {
      tensor = tensor.to(at::kCPU, at::kFloat);
      if (visual && tensor.dim() == 1) tensor = tensor.view({-1, 1, 1});
    }
  }
  for (const auto& [name, feature] : normalization_.features) {
    const NormalizationMode mode = mode_of(feature, normalization_.norm_map);
    if (mode == NormalizationMode::kIdentity) continue;
    const auto [first, second] = statistics_of(mode);
    const at::Tensor& low = statistic(normalization_.stats, name, feature, first, source);
    at::Tensor span = spread(mode, low, statistic(normalization_.stats, name, feature, second, source));
    at::Tensor divisor = span + normalization_.eps;
    if (mode != NormalizationMode::kMeanStd) {
      divisor = span = at::where(span == 0, at::full_like(span, normalization_.eps), span);
    }
    scalings_.append(name, {mode, low.to(device), span.to(device), divisor.to(device)});
  }
}

Batch Normalizer::normalize(Batch batch) const {
  for (const auto& [name, scaling] : scalings_) {
    const auto at = batch.find(name);
    if (at == batch.end()) continue;
    const at::Tensor centred = at->second.to(at::kFloat) - scaling.low;
    at->second =
        scaling.mode == NormalizationMode::kMeanStd ? centred / scaling.divisor : 2 * centred / scaling.divisor - 1;
  }
  return batch;
}

at::Tensor Normalizer::unnormalize_action(const at::Tensor& action) const {
  const Scaling* scaling = scalings_.find("action");
  if (scaling == nullptr) return action;
  const at::Tensor x = action.to(at::kFloat);
  switch (scaling->mode) {
    case NormalizationMode::kMeanStd:
      return x * scaling->span + scaling->low;
    case NormalizationMode::kMinMax:
      return (x + 1) / 2 * scaling->span + scaling->low;
    default:
      return (x + 1) * scaling->span / 2 + scaling->low;
  }
}

OrderedMap<at::Tensor> Normalizer::state() const {
  OrderedMap<at::Tensor> state;
  for (const auto& [name, all] : normalization_.stats) {
    for (const auto& [which, tensor] : all) state.append(name + "." + which, tensor);
  }
  return state;
}

std::vector<std::string> Normalizer::constant_dimensions() const {
  std::vector<std::string> constant;
  for (const auto& [name, scaling] : scalings_) {
    const auto [first, second] = statistics_of(scaling.mode);
    const OrderedMap<at::Tensor>& all = *normalization_.stats.find(name);
    const at::Tensor width = spread(scaling.mode, *all.find(first), *all.find(second)).flatten();
    for (std::int64_t i = 0; i < width.numel(); ++i) {
      if (width[i].item<float>() == 0) constant.push_back(format("{}[{}]", name, i));
    }
  }
  return constant;
}

OrderedMap<std::vector<std::string>> needed_statistics(const config::PolicyConfig& config) {
  OrderedMap<std::vector<std::string>> needed;
  for (const auto& [name, feature] : all_features(config)) {
    const NormalizationMode mode = mode_of(feature, config::normalization_mapping(config));
    if (mode == NormalizationMode::kIdentity) continue;
    const auto [first, second] = statistics_of(mode);
    needed.append(name, {std::string(first), std::string(second)});
  }
  return needed;
}

Processors make_processors(const config::PolicyConfig& config, const Stats& stats, const at::Device& device,
                           const StatsSource& source) {
  const config::PolicyCommon& common = config::common(config);
  const config::Features all = all_features(config);
  const config::NormalizationMap& map = config::normalization_mapping(config);
  Processors processors{Normalizer({all, map, stats}, device, source),
                        Normalizer({common.output_features, map, stats}, device, source)};
  std::string constant;
  for (const std::string& dimension : processors.pre.constant_dimensions()) {
    constant += (constant.empty() ? "" : ", ") + dimension;
  }
  if (!constant.empty())
    log::warn("{}: dimensions that never change: {}. They carry nothing to learn from.", source.name, constant);
  return processors;
}

}  // namespace lerobot::policy
