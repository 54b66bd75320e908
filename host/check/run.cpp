#include "host/check/run.h"

#include "host/accel/abi.h"
#include "host/accel/activate.h"
#include "host/accel/library.h"
#include "host/base/error.h"

namespace lerobot::check {
namespace fs = std::filesystem;
namespace {

constexpr char kCheckerEntry[] = "lerobot_checker";

/// An entry point of a library; Failed when either is not there.
template <class Function>
Function load_entry(const fs::path& library, const char* symbol) {
  try {
    void* entry = accel::Library::open(library).find(symbol);
    if (!entry) throw Failed(format("{}: exports no {}", library.filename().string(), symbol));
    return reinterpret_cast<Function>(entry);
  } catch (const Error& error) {
    throw Failed(format("the library does not load: {}", error.what()));
  }
}

}  // namespace

std::string status_name(lra_status status) {
  constexpr const char* kNames[] = {"LRA_OK",          "LRA_INTERNAL",      "LRA_INVALID_ARGUMENT",
                                    "LRA_UNSUPPORTED", "LRA_UNAVAILABLE",   "LRA_INCOMPATIBLE",
                                    "LRA_WRONG_STATE", "LRA_OUT_OF_MEMORY", "LRA_DEVICE_FAILURE"};
  return status < std::size(kNames) ? kNames[status] : format("status {}", status);
}

void Run::ok(lra_status status, std::string_view what) {
  expect(status == LRA_OK, "{}: {} ({})", what, status_name(status), accel::bounded_text(error_.message));
  error_ = sized<lra_error>();
}

void Run::require_ok(lra_status status, std::string_view what) {
  require(status == LRA_OK, "{}: {} ({})", what, status_name(status), accel::bounded_text(error_.message));
}

void Run::refused(lra_status status, lra_status needed, std::string_view what) {
  expect(status == needed, "{}: {}, needed {}", what, status_name(status), status_name(needed));
  error_ = sized<lra_error>();
}

fs::path Run::probe_file() const {
  return accel::package_file(subject_.package.directory,
                             subject_.manifest().probe.value_or(subject_.manifest().library));
}

fs::path Run::library_file() const {
  return accel::package_file(subject_.package.directory, subject_.manifest().library);
}

lra_probe_fn Run::probe() {
  if (probe_) return probe_;
  if (!subject_.manifest().probe) load();
  return probe_ = load_entry<lra_probe_fn>(probe_file(), LRA_PROBE_SYMBOL);
}

lra_get_api_fn Run::get_api() {
  load();
  return get_api_;
}

void Run::load() {
  if (get_api_) return;
  if (!subject_.has_torch) throw Skipped(subject_.own_torch.problem);
  try {
    torch_version_ = accel::open_torch(subject_.torch);
  } catch (const Error& error) {
    throw Failed(format("its torch does not load: {}", error.what()));
  }
  get_api_ = load_entry<lra_get_api_fn>(library_file(), LRA_GET_API_SYMBOL);
}

lra_host_info Run::host_info() {
  load();
  static constexpr std::string_view kCxxAbi = LRA_CXX_ABI;
  static constexpr std::string_view kName = "lerobot-accel check";
  auto host = sized<lra_host_info>();
  host.abi_major_min = accel::kAbiMajorMin;
  host.abi_major_max = accel::kAbiMajorMax;
  host.abi_minor = LRA_VERSION_MINOR;
  host.sanitizers = LRA_COMPILED_SANITIZERS;
  host.torch_version = torch_version_.data();
  host.torch_version_size = torch_version_.size();
  host.cxx_abi = kCxxAbi.data();
  host.cxx_abi_size = kCxxAbi.size();
  host.host_version = kName.data();
  host.host_version_size = kName.size();
  return host;
}

const lra_api& Run::api() {
  if (api_.struct_size != 0) return api_;
  const lra_host_info host = host_info();
  auto api = sized<lra_api>();
  require_ok(get_api_(&host, &api, &error_), LRA_GET_API_SYMBOL);
  return api_ = api;
}

void Run::start() {
  if (context_) return;
  if (!subject_.unavailable.empty()) throw Skipped(subject_.unavailable);
  require(api().init && api().shutdown && api().device_count && api().device_info && api().activate_device,
          "its table lacks a required function");
  const auto args = sized<lra_init_args>();
  require_ok(api().init(&args, &context_, &error_), "init");
  require(context_ != nullptr, "init: LRA_OK and no context");
  require(device_count() > 0, "the probe found {} devices, the started plugin has none", subject_.probed_devices);
  require_ok(api().activate_device(context_, 0, &error_), "activate_device");
}

void Run::stop() {
  if (!context_) return;
  require_ok(api().shutdown(context_, &error_), "shutdown");
  context_ = nullptr;
}

std::uint32_t Run::device_count() {
  std::uint32_t count = 0;
  require_ok(api().device_count(context_, &count, &error_), "device_count");
  return count;
}

lra_device_info Run::device(std::uint32_t ordinal) {
  auto info = sized<lra_device_info>();
  require_ok(api().device_info(context_, ordinal, &info, &error_), "device_info");
  return info;
}

const checker::Checker& Run::checker() {
  if (checker_) return *checker_;
  load();
  if (torch_version_.empty()) throw Skipped("the plugin uses no torch");
  const std::string version = accel::major_minor(torch_version_);
  const fs::path library = accel::library_directory() / "lerobot/checker" / version / "liblerobot_checker.so";
  std::error_code ec;
  if (!fs::exists(library, ec)) {
    throw Skipped(format("{}: not installed; build lerobot_checker with a torch {}", library.string(), version));
  }
  return *(checker_ = load_entry<const checker::Checker* (*)()>(library, kCheckerEntry)());
}

checker::Tensors& Run::tensors() {
  start();
  if (!tensors_) tensors_ = checker().open(accel::bounded_text(device().torch_device));
  return *tensors_;
}

}  // namespace lerobot::check
