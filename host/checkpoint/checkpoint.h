#pragma once

#include <ATen/core/Tensor.h>

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/checkpoint/ema_state.h"
#include "host/checkpoint/training_step.h"

namespace lerobot::checkpoint {

using Tensors = OrderedMap<at::Tensor>;

/// A `policy_*processor.json` together with the state files that its steps name.
struct ProcessorFile {
  std::string name;  ///< without the ending: policy_preprocessor, policy_postprocessor
  boost::json::value json;
  OrderedMap<Tensors> states;  ///< by file name
};

/// Everything that one checkpoint holds, in the terms of its files. Reading gives CPU tensors; for writing they may lie
/// on any device.
struct Checkpoint {
  TrainingStep position;
  std::string config_json;        ///< text of pretrained_model/config.json
  std::string train_config_json;  ///< text of pretrained_model/train_config.json
  Tensors model;                  ///< by the names of LeRobot's state_dict
  std::vector<ProcessorFile> processors;
  Tensors optimizer;  ///< state/<parameter index>/<name>
  boost::json::value optimizer_param_groups;
  std::optional<boost::json::value> scheduler;
  std::optional<boost::json::value> scaler;  ///< of losses in fp16; its content is not checked when it is read
  std::optional<EmaState> ema;               ///< to be written, its names are those of `model`'s parameters
  Tensors rng;                               ///< the entries of rng_state.safetensors (rng_state.h)
};

}  // namespace lerobot::checkpoint
