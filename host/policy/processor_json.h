#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "host/policy/normalizer.h"

// The files of a policy's two processors, as LeRobot writes them for ACT (JSON with indent 2).

namespace lerobot::policy {

inline constexpr std::string_view kPreprocessorFile = "policy_preprocessor.json";
inline constexpr std::string_view kPreprocessorState = "policy_preprocessor_step_3_normalizer_processor.safetensors";
inline constexpr std::string_view kPostprocessorFile = "policy_postprocessor.json";
inline constexpr std::string_view kPostprocessorState =
    "policy_postprocessor_step_0_unnormalizer_processor.safetensors";

/// `device` is a type of device: "cpu", "cuda".
boost::json::value preprocessor_json(const Normalization& normalization, const OrderedMap<std::string>& rename_map,
                                     std::string_view device);
boost::json::value postprocessor_json(const Normalization& normalization);

/// What a saved processor's normalizer holds: `pipeline` is its JSON file, `state` the tensors of its state file,
/// `file` names the JSON file in messages. Either processor can be read. Throws Error(kCheckpoint), also for a step
/// that this program does not know.
Normalization read_normalization(const boost::json::value& pipeline, const OrderedMap<at::Tensor>& state,
                                 std::string_view file);

}  // namespace lerobot::policy
