#include "sdk/torch/plugin.h"

#include "controls.h"
#include "sdk/failure.h"
#include "sdk/handshake.h"

namespace lerobot::simaccel {
namespace {

/// The SDK's table, without the entries that the controls take away.
lra_api table() {
  const auto controls = simaccel::controls();
  lra_api api = sdk::torch_plugin(LEROBOT_PLUGIN_ID, LEROBOT_PLUGIN_VERSION,
                                  controls->tf32 ? sdk::Tf32::kPresent : sdk::Tf32::kNone);
  if (!controls->autocast) {
    api.autocast_query = nullptr;
    api.autocast_enter = nullptr;
    api.autocast_exit = nullptr;
  }
  if (!controls->scaler) {
    api.scaler_unscale = nullptr;
    api.scaler_update = nullptr;
  }
  return api;
}

}  // namespace
}  // namespace lerobot::simaccel

LRA_EXPORT lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error) {
  lra_api own{};
  const lra_status status = lerobot::sdk::guarded(error, [&] { own = lerobot::simaccel::table(); });
  return status == LRA_OK ? lerobot::sdk::answer_handshake(host, api, error, own) : status;
}
