// torch's autocast as scopes of the calling thread, named by tokens.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace lerobot::sdk {

/// Opens a scope for operators on `type`; `precision` is an LRA_PRECISION_ value. Returns its token, never 0.
std::uint64_t enter_autocast(c10::DeviceType type, std::uint32_t precision);

/// Closes the calling thread's innermost scope, which must be `token`'s, else LRA_WRONG_STATE is thrown and nothing
/// changes. Leaving the outermost one clears torch's cache of cast weights: training would go on with stale ones.
void exit_autocast(std::uint64_t token);

/// Scopes open on all threads together.
std::uint64_t open_autocast_scopes();

}  // namespace lerobot::sdk
