#include "guard.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include "controls.h"
#include "counters.h"

namespace lerobot::simaccel {
namespace {

thread_local c10::DeviceIndex thread_device = 0;

/// Every operator has ended when it returns, so one stream is enough and events have nothing to do.
class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kSim; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Device getDevice() const override { return current_device(); }
  void setDevice(c10::Device device) const override { exchangeDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { thread_device = device.index(); }
  c10::Device exchangeDevice(c10::Device device) const override {
    TORCH_CHECK(device.type() == kSim, "simaccel: ", device, " is not a simulated accelerator");
    TORCH_CHECK_INDEX(device.index() >= 0 && device.index() < device_count(), "simaccel: device ",
                      static_cast<int>(device.index()), " of ", static_cast<int>(device_count()));
    const c10::Device previous = current_device();
    thread_device = device.index();
    return previous;
  }

  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, with_index(device));
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getStream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return getStream(stream.device()); }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(c10::DeviceIndex device) const override { ++counters().devices[device].synchronizations; }

  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  double elapsedTime(void*, void*, c10::DeviceIndex) const override { return 0; }
};

}  // namespace

c10::DeviceIndex device_count() {
  static const auto count = static_cast<c10::DeviceIndex>(controls()->devices);
  return count;
}

c10::Device current_device() {
  return {kSim, thread_device};
}

c10::Device with_index(c10::Device device) {
  return device.has_index() ? device : c10::Device(device.type(), thread_device);
}

void register_guard() {
  static const Guard guard;
  const c10::impl::DeviceGuardImplRegistrar registrar(kSim, &guard);
}

}  // namespace lerobot::simaccel
