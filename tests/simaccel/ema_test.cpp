// The average of the weights on a device that is not the host: without float64, and with a skipped update.
#include "host/optim/ema.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

#include "tests/simaccel/loaded_plugin.h"

namespace lerobot::simaccel {
namespace {

const bool kWithoutFloat64 = setenv("LEROBOT_SIMACCEL", "float64=no", 1) == 0;

using optim::Ema;
using EmaOnADevice = PluginTest;

TEST_F(EmaOnADevice, HasTheBitsOfTheCpuWithoutFloat64) {
  const at::Device sim(at::kPrivateUse1, 0);
  const OrderedMap<at::Tensor> here{
      {"a", at::rand({5, 3})}, {"b", at::rand({7})}, {"c", at::tensor({-0.0F, 1e8F, 0.0F, -0.0F})}};
  const std::vector<at::Tensor> jumps{at::tensor({1.0F, 1e-7F, -0.0F, -1.0F}),
                                      at::tensor({-0.0F, 1e-7F, 1e20F, -0.0F})};
  OrderedMap<at::Tensor> there;
  for (const auto& [name, tensor] : here) there.append(name, tensor.to(sim));
  Ema on_cpu(here, {}, /*float64=*/false);
  Ema on_device(there, {}, /*float64=*/false);
  for (int update = 0; update < 6; ++update) {
    for (const auto& [name, tensor] : here) {
      if (name == "c") {
        tensor.copy_(jumps[static_cast<std::size_t>(update % 2)]);
      } else {
        tensor.mul_(1.1);
      }
      there.find(name)->copy_(tensor);
    }
    const bool skipped = update == 0 || update == 3;
    on_cpu.step(skipped ? at::ones({}) : at::zeros({}));
    on_device.step((skipped ? at::ones({}) : at::zeros({})).to(sim));
    EXPECT_EQ(on_device.decay().device(), sim);
    EXPECT_TRUE(on_device.decay().cpu().equal(on_cpu.decay()));
    for (const auto& [name, average] : on_cpu.shadow()) {
      EXPECT_EQ(on_device.shadow().find(name)->device(), sim);
      const at::Tensor other = on_device.shadow().find(name)->cpu();
      EXPECT_EQ(std::memcmp(other.const_data_ptr(), average.const_data_ptr(), average.nbytes()), 0)
          << name << ", update " << update;
    }
  }
  EXPECT_EQ(on_device.state().optimization_step, 4);
}

}  // namespace
}  // namespace lerobot::simaccel
