#include "sdk/torch/plugin.h"

#include "sdk/handshake.h"

LRA_EXPORT lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error) {
  return lerobot::sdk::answer_handshake(host, api, error,
                                        lerobot::sdk::torch_plugin(LEROBOT_PLUGIN_ID, LEROBOT_PLUGIN_VERSION));
}
