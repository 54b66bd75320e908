// A full library on torch: write a Backend and make_backend; the table of functions is the same for all.
#pragma once

#include <c10/core/Device.h>
#include <lerobot_accel.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot::sdk {

/// The host's log, from any thread.
class Log {
 public:
  Log(lra_log_fn function, void* context) : function_(function), context_(context) {}
  void write(std::uint32_t level, std::string_view message) const {
    if (function_ != nullptr) function_(context_, level, message.data(), message.size());
  }

 private:
  lra_log_fn function_;
  void* context_;
};

struct AutocastSupport {
  std::uint32_t support = LRA_SUPPORT_NONE;
  std::string reason;  ///< why it is not native
};

/// What one kind of hardware does in its own way. Methods may throw Failure or torch's exceptions.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The devices, by ordinal; asked once. torch_type, torch_index and torch_device are those of the tensors on it.
  virtual std::vector<lra_device_info> devices() = 0;

  /// Whether autocast to LRA_PRECISION_BF16 or LRA_PRECISION_FP16 works on a device.
  virtual AutocastSupport autocast_support(std::uint32_t device, std::uint32_t precision) = 0;

  /// lra_api.tf32_get and tf32_set, for hardware that has TF32 (sdk/torch/tf32.h does them over torch's switches).
  /// Values are in range when set_tf32 is called. These say that it is off, and refuse "on".
  virtual lra_tf32 tf32();
  virtual void set_tf32(const lra_tf32& settings);
};

/// Whether a plugin's hardware knows TF32 at all: without it the table has no tf32 entries, and the host refuses "on".
enum class Tf32 { kNone, kPresent };

/// Defined by the plugin; called by init.
std::unique_ptr<Backend> make_backend(const Log& log);

/// The table over make_backend, its handshake fields filled for the torch it is compiled with.
lra_api torch_plugin(std::string_view id, std::string_view version, Tf32 tf32 = Tf32::kNone);

}  // namespace lerobot::sdk
