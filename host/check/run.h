#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/base/format.h"
#include "host/check/subject.h"
#include "host/checker/tensors.h"
#include "plugin-api/include/lerobot_accel.h"

namespace lerobot::check {

/// Ends a check that found a fault past which it makes no sense.
class Failed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ends a check that cannot be made here; the text says why.
class Skipped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A zeroed struct of the contract with its size set.
template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof value;
  return value;
}

/// "LRA_UNSUPPORTED"
std::string status_name(lra_status status);

/// One check at work on one plugin, in a process of its own: loads what the check asks for, collects what it finds.
class Run {
 public:
  explicit Run(const Subject& subject) : subject_(subject) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const Subject& subject() const { return subject_; }
  const std::vector<std::string>& findings() const { return findings_; }

  /// Notes a fault unless `good`, and goes on.
  template <class... Args>
  void expect(bool good, std::string_view pattern, const Args&... args) {
    if (!good) findings_.push_back(format(pattern, args...));
  }
  /// Ends the check with a fault unless `good`.
  template <class... Args>
  void require(bool good, std::string_view pattern, const Args&... args) {
    if (!good) throw Failed(format(pattern, args...));
  }
  /// Expects LRA_OK; the plugin's own message is part of the finding.
  void ok(lra_status status, std::string_view what);
  void require_ok(lra_status status, std::string_view what);
  /// Expects a status other than LRA_OK.
  void refused(lra_status status, lra_status needed, std::string_view what);

  /// The file of the thin library, or of the full one when there is no thin one.
  std::filesystem::path probe_file() const;
  std::filesystem::path library_file() const;

  /// Entry points; the libraries are loaded at the first call, the full one after its torch. Skipped when that torch is
  /// not here, Failed when a library does not load.
  lra_probe_fn probe();
  lra_get_api_fn get_api();

  /// A host that fits: its majors, the torch in this process, this compiler's C++ ABI.
  lra_host_info host_info();
  /// The handshake's table.
  const lra_api& api();

  /// init, once until stop; Skipped when there is no usable device, so that checks of the table need no more.
  void start();
  /// shutdown, if started.
  void stop();
  bool started() const { return context_ != nullptr; }
  lra_context* context() const { return context_; }
  void set_context(lra_context* context) { context_ = context; }

  /// Described after start.
  lra_device_info device(std::uint32_t ordinal = 0);
  std::uint32_t device_count();

  /// Torch on device 0, after start. Skipped for a plugin without torch, or when the library for it is not installed.
  checker::Tensors& tensors();
  bool has_tensors() const { return !subject_.torch.version.empty(); }
  const checker::Checker& checker();

  lra_error* error() { return &error_; }

 private:
  void load();

  const Subject& subject_;
  std::vector<std::string> findings_;
  lra_probe_fn probe_ = nullptr;
  lra_get_api_fn get_api_ = nullptr;
  std::string torch_version_;
  lra_api api_{};
  lra_context* context_ = nullptr;
  const checker::Checker* checker_ = nullptr;
  std::unique_ptr<checker::Tensors> tensors_;
  lra_error error_ = sized<lra_error>();
};

}  // namespace lerobot::check
