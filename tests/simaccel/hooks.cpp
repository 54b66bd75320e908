#include "hooks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <mutex>
#include <vector>

#include "controls.h"
#include "guard.h"

namespace lerobot::simaccel {
namespace {

/// A generator of the device: its numbers come from a CPU generator, whose states are its states.
class Generator final : public c10::GeneratorImpl {
  /// Whoever calls this generator holds its lock; the CPU's kernels hold the host generator's.
  template <class Function>
  auto locked(Function function) const {
    c10::GeneratorImpl& host = *host_.unsafeGetGeneratorImpl();
    const std::lock_guard lock(host.mutex_);
    return function(host);
  }

 public:
  Generator(c10::Device device, at::Generator host)
      : GeneratorImpl(device, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)), host_(std::move(host)) {}

  const at::Generator& host() const { return host_; }

  void set_current_seed(std::uint64_t seed) override {
    locked([&](auto& host) { host.set_current_seed(seed); });
  }
  std::uint64_t current_seed() const override {
    return locked([](auto& host) { return host.current_seed(); });
  }
  std::uint64_t seed() override {
    return locked([](auto& host) { return host.seed(); });
  }
  void set_offset(std::uint64_t offset) override {
    locked([&](auto& host) { host.set_offset(offset); });
  }
  std::uint64_t get_offset() const override {
    return locked([](auto& host) { return host.get_offset(); });
  }
  void set_state(const c10::TensorImpl& state) override {
    locked([&](auto& host) { host.set_state(state); });
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return locked([](auto& host) { return host.get_state(); });
  }

 private:
  Generator* clone_impl() const override { return new Generator(device(), host_.clone()); }

  at::Generator host_;
};

at::Generator make_generator(c10::Device device) {
  at::Generator host = controls()->generator == GeneratorKind::kCpu ? at::detail::getDefaultCPUGenerator()
                                                                    : at::detail::createCPUGenerator();
  return at::make_generator<Generator>(device, std::move(host));
}

const at::Generator& default_generator(c10::DeviceIndex index) {
  static const auto* const all = [] {
    auto* generators = new std::vector<at::Generator>;
    for (c10::DeviceIndex i = 0; i < device_count(); ++i) generators->push_back(make_generator({kSim, i}));
    return generators;
  }();
  return all->at(static_cast<std::size_t>(index));
}

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device().index(); }
  void setCurrentDevice(c10::DeviceIndex index) const override { guard().setDevice({kSim, index}); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return guard().exchangeDevice({kSim, index}).index();
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return index < 0 ? getCurrentDevice() : exchangeDevice(index);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    return default_generator(index < 0 ? getCurrentDevice() : index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return make_generator(with_index({kSim, index}));
  }
  c10::Device getDeviceFromPtr(void*) const override { return current_device(); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }

 private:
  static const c10::impl::DeviceGuardImplInterface& guard() { return *c10::impl::getDeviceGuardImpl(kSim); }
};

}  // namespace

at::Generator host_generator(const at::Generator& generator, c10::Device device) {
  const at::Generator& own = generator.defined() ? generator : default_generator(device.index());
  if (own.device().type() != kSim) return own;
  return static_cast<Generator*>(own.unsafeGetGeneratorImpl())->host();
}

void register_hooks() {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
}

}  // namespace lerobot::simaccel
