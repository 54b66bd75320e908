// TF32 through torch's own switches, which keep its older and its newer view of the setting equal.
#pragma once

#include <lerobot_accel.h>

#include <string_view>

namespace lerobot::sdk {

/// torch's switches of one kind of hardware, matrix products and convolutions apart.
struct Tf32Switches {
  bool (*matmul)();
  void (*set_matmul)(bool on);
  bool (*convolution)();
  void (*set_convolution)(bool on);
};

/// Those of torch's cuda devices, NVIDIA's and AMD's.
extern const Tf32Switches kCudaTf32;
/// The one switch of torch's xpu devices, which stands for both.
extern const Tf32Switches kOneDnnTf32;

/// lra_api.tf32_get over these switches.
lra_tf32 read_tf32(const Tf32Switches& switches);

/// lra_api.tf32_set over these switches, read back afterwards. When torch did not take it, or when it changed one that
/// was to be left, everything is as before and LRA_UNSUPPORTED with `hint` is thrown.
void write_tf32(const Tf32Switches& switches, const lra_tf32& settings, std::string_view hint);

}  // namespace lerobot::sdk
