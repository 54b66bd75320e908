#include "host/base/json.h"
#include "host/config/encode.h"
#include "host/config/load.h"
#include "host/config/train_fields.h"

namespace lerobot::config {

std::string train_config_json(const TrainConfig& config) {
  return json::write(encode(config));
}
std::string policy_config_json(const PolicyConfig& policy) {
  return json::write(encode(policy));
}

}  // namespace lerobot::config
