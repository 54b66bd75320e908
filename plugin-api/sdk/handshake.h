// The first meeting of host and plugin.
#pragma once

#include <lerobot_accel.h>

#include <string_view>

namespace lerobot::sdk {

/// A table that holds the handshake fields of a plugin compiled here, and no function yet.
/// torch_version: what it was built with; empty for a plugin without torch, which then shares no C++ either.
lra_api describe_plugin(std::string_view id, std::string_view version, std::string_view torch_version);

/// The whole of lra_get_api: checks that the two fit, then copies as much of `own` as the host's table holds.
lra_status answer_handshake(const lra_host_info* host, lra_api* api, lra_error* error, const lra_api& own) noexcept;

/// Throws LRA_INCOMPATIBLE unless the host's range of majors holds this header's.
void check_major(std::uint32_t host_min, std::uint32_t host_max);

}  // namespace lerobot::sdk
