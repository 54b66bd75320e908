#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plugin-api/include/lerobot_accel.h"

namespace lerobot::accel {

enum class Precision : std::uint32_t {
  kFloat32 = LRA_PRECISION_FLOAT32,
  kBFloat16 = LRA_PRECISION_BF16,
  kFloat16 = LRA_PRECISION_FP16,
};

enum class Support : std::uint32_t {
  kNone = LRA_SUPPORT_NONE,
  kEmulated = LRA_SUPPORT_EMULATED,
  kNative = LRA_SUPPORT_NATIVE,
};

struct AutocastSupport {
  Support support = Support::kNone;
  std::string reason;  ///< why not native
};

enum class Tf32 : std::uint32_t { kLeave = LRA_TF32_LEAVE, kOff = LRA_TF32_OFF, kOn = LRA_TF32_ON };

struct Tf32State {
  Tf32 matmul = Tf32::kOff;
  Tf32 convolution = Tf32::kOff;
};

/// PyTorch's rule for the loss scale, see lra_api::scaler_update.
struct ScalerRule {
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  std::uint32_t growth_interval = 2000;
};

using TensorView = lra_tensor_view;

/// What the trainer needs to know about the chosen device.
struct DeviceInfo {
  std::string name;
  std::string torch_device;  ///< what torch parses: "cpu", "cuda:1"
  std::int32_t torch_type = 0;
  std::int32_t torch_index = -1;
  std::uint64_t capabilities = 0;  ///< LRA_CAP_ bits
  std::uint64_t memory_total = 0;  ///< bytes
  std::string pci_address;
  std::string architecture;
};

/// The chosen plugin with its one device, ready for work: the table of the contract as a class. Uses no torch.
/// Functions throw Error when the plugin answers with another status than OK: kMemory when memory ran out, else
/// kDevice. Which threads may call what is said in lerobot_accel.h at the function of the same name.
class Accelerator {
 public:
  /// Takes over a context that init made; the destructor shuts it down.
  Accelerator(const lra_api& api, lra_context* context, std::uint32_t device);
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  const std::string& plugin_id() const { return plugin_id_; }
  const std::string& plugin_version() const { return plugin_version_; }
  const std::string& torch_device() const { return info_.torch_device; }
  const DeviceInfo& device_info() const { return info_; }

  /// Makes the device the calling thread's current one; each thread that works with it calls this first.
  void activate_on_this_thread();
  void synchronize();
  void selftest();

  /// Without autocast in the plugin: native for float32, else none with that reason.
  AutocastSupport autocast_query(Precision precision);
  std::uint64_t autocast_enter(Precision precision);
  void autocast_exit(std::uint64_t token);

  /// False: the plugin has no such function, and the caller does the arithmetic with plain operators.
  bool has_scaler_unscale() const;
  bool has_scaler_update() const;
  void scaler_unscale(std::span<const TensorView> gradients, const TensorView& found_inf, const TensorView& inv_scale);
  void scaler_update(const TensorView& scale, const TensorView& growth_tracker, const TensorView& found_inf,
                     const ScalerRule& rule);

  /// Nothing when the device has no TF32.
  std::optional<Tf32State> tf32_get();
  /// Where there is no TF32, kOn is Error(kConfig) and the others do nothing.
  void tf32_set(const Tf32State& settings);

  /// Nothing when the plugin keeps no statistics.
  std::optional<lra_memory_stats> memory_stats();
  /// False when the plugin cannot: the caller seeds through torch.
  bool seed(std::uint64_t value);
  /// A further table of the plugin, or null.
  const void* extension(const std::string& id);

 private:
  bool has_autocast() const;
  void read_device_info();

  lra_api api_;
  lra_context* context_;
  std::uint32_t device_;
  std::string plugin_id_;
  std::string plugin_version_;
  DeviceInfo info_;
};

}  // namespace lerobot::accel
