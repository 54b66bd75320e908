#include "sdk/handshake.h"

#include <cstddef>

#include "sdk/structs.h"

namespace lerobot::sdk {
namespace {

std::string_view text(const char* data, std::uint64_t size) {
  if (data == nullptr && size != 0) throw Failure(LRA_INVALID_ARGUMENT, "lra_host_info: a text is null");
  return {data, static_cast<std::size_t>(size)};
}

/// "2.11" of "2.11.0+cu130".
std::string_view major_minor(std::string_view version) {
  const std::size_t first = version.find('.');
  return first == std::string_view::npos ? version : version.substr(0, version.find_first_of(".+", first + 1));
}

std::string quoted(std::string_view value) {
  return value.empty() ? "none" : std::string(value);
}

void check_torch(std::string_view found, std::string_view needed) {
  if (!needed.empty() && major_minor(found) != major_minor(needed)) {
    throw Failure(LRA_INCOMPATIBLE,
                  "the process has torch " + quoted(found) + ", the plugin was built with " + std::string(needed),
                  "Install the plugin that was built for this torch, or give it its own.");
  }
}

void check_cxx_abi(std::string_view host, std::string_view plugin) {
  if (!host.empty() && !plugin.empty() && host != plugin) {
    throw Failure(LRA_INCOMPATIBLE,
                  "the host's C++ ABI is " + std::string(host) + ", the plugin's is " + std::string(plugin),
                  "Build both with the same compiler family and C++ library.");
  }
}

void check_sanitizers(std::uint32_t host, std::uint32_t plugin) {
  if ((plugin & ~host) != 0) {
    throw Failure(LRA_INCOMPATIBLE,
                  "the plugin is built with sanitizers that the host lacks (plugin " + std::to_string(plugin) +
                      ", host " + std::to_string(host) + ")",
                  "Use a plain build of the plugin.");
  }
}

/// Copies whole fields only: every entry from init on is one pointer.
void fill_table(lra_api* api, lra_api own) {
  constexpr std::uint32_t kHandshake = offsetof(lra_api, init);
  const std::uint32_t fits = std::min<std::uint32_t>(api->struct_size, sizeof(lra_api));
  own.struct_size = kHandshake + (fits - kHandshake) / sizeof(void*) * sizeof(void*);
  std::memcpy(api, &own, own.struct_size);
}

}  // namespace

lra_api describe_plugin(std::string_view id, std::string_view version, std::string_view torch_version) {
  lra_api api{};
  api.struct_size = sizeof(lra_api);
  api.abi_major = LRA_VERSION_MAJOR;
  api.abi_minor = LRA_VERSION_MINOR;
  api.abi_major_min = LRA_VERSION_MAJOR;
  api.abi_major_max = LRA_VERSION_MAJOR;
  api.sanitizers = LRA_COMPILED_SANITIZERS;
  copy_text(api.plugin_id, id);
  copy_text(api.plugin_version, version);
  copy_text(api.torch_version, torch_version);
  copy_text(api.cxx_abi, torch_version.empty() ? "" : LRA_CXX_ABI);
  return api;
}

void check_major(std::uint32_t host_min, std::uint32_t host_max) {
  if (host_min > LRA_VERSION_MAJOR || host_max < LRA_VERSION_MAJOR) {
    throw Failure(LRA_INCOMPATIBLE,
                  "the host speaks versions " + std::to_string(host_min) + " to " + std::to_string(host_max) +
                      " of the plugin contract, the plugin speaks " + std::to_string(LRA_VERSION_MAJOR),
                  host_min > LRA_VERSION_MAJOR ? "Update the plugin." : "Update the trainer.");
  }
}

lra_status answer_handshake(const lra_host_info* host, lra_api* api, lra_error* error, const lra_api& own) noexcept {
  return guarded(error, [&] {
    const lra_host_info caller = read_args(host, "lra_host_info");
    check_reserved(caller.reserved, "lra_host_info.reserved");
    check_struct(api, "lra_api", offsetof(lra_api, init));
    text(caller.host_version, caller.host_version_size);  // for logs; null is refused all the same
    check_major(caller.abi_major_min, caller.abi_major_max);
    check_torch(text(caller.torch_version, caller.torch_version_size), own.torch_version);
    check_cxx_abi(text(caller.cxx_abi, caller.cxx_abi_size), own.cxx_abi);
    check_sanitizers(caller.sanitizers, own.sanitizers);
    fill_table(api, own);
  });
}

}  // namespace lerobot::sdk
