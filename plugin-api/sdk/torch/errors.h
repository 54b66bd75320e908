// torch's exceptions as this contract's failures.
#pragma once

#include "sdk/failure.h"

namespace lerobot::sdk {

/// Rethrows the torch exception being handled as a Failure of one line; lets anything else pass on.
[[noreturn]] void rethrow_torch_error();

/// `guarded` for a body that calls torch.
template <typename Body>
lra_status torch_guarded(lra_error* error, Body&& body) noexcept {
  return guarded(error, [&] {
    try {
      std::forward<Body>(body)();
    } catch (...) {
      rethrow_torch_error();
    }
  });
}

}  // namespace lerobot::sdk
