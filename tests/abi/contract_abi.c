/* A library with the contract's two entry points, for abidw: through them it sees every type of the contract. */
#include <lerobot_accel.h>

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  (void)args, (void)result, (void)error;
  return LRA_UNSUPPORTED;
}

LRA_EXPORT lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error) {
  (void)host, (void)api, (void)error;
  return LRA_UNSUPPORTED;
}
