#include "host/check/subject.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::check {
namespace fs = std::filesystem;
namespace {

/// A torch package of the version that the plugin was built with: enough to load a plugin whose own torch is not here.
const accel::Package* find_stand_in(const accel::Manifest& plugin, const std::vector<accel::Package>& packages) {
  const auto found = std::ranges::find_if(packages, [&](const accel::Package& package) {
    return package.manifest && !package.shadowed_by && package.manifest->kind == accel::Manifest::Kind::kTorch &&
           accel::major_minor(package.manifest->torch_version) == accel::major_minor(plugin.torch_version);
  });
  return found == packages.end() ? nullptr : &*found;
}

void find_torch(Subject& subject, const std::vector<accel::Package>& packages, const accel::TorchOptions& options) {
  subject.torch = subject.own_torch = accel::resolve_torch(subject.package, packages, options);
  subject.has_torch = subject.own_torch.problem.empty();
  const accel::Package* other = subject.has_torch ? nullptr : find_stand_in(subject.manifest(), packages);
  if (!other) return;
  accel::Package plugin = subject.package;
  plugin.manifest->torch = {accel::TorchSource::Kind::kPackage, other->id};
  plugin.manifest->preload.clear();  // the vendor's libraries
  const accel::TorchRuntime found = accel::resolve_torch(plugin, packages, options);
  if (!found.problem.empty()) return;  // the first problem is the one to tell
  subject.torch = found;
  subject.has_torch = subject.stand_in = true;
}

}  // namespace

Subject find_subject(const fs::path& directory, const std::optional<std::string>& torch_directory) {
  std::error_code ec;
  const fs::path package = fs::weakly_canonical(directory, ec);
  if (!fs::exists(fs::symlink_status(package / "manifest.json", ec))) {
    fail(ErrorKind::kUsage, "{}: has no manifest.json. Name the directory of one plugin package", directory.string());
  }
  accel::SearchOptions search;
  search.command_line = {package.string(), package.parent_path().string()};
  const std::vector<accel::Package> packages = accel::find_packages(search);
  Subject subject;
  subject.package = packages.front();
  subject.unavailable = "the probe was not asked";
  if (!subject.package.manifest || subject.manifest().kind != accel::Manifest::Kind::kPlugin) return subject;
  accel::TorchOptions torch;
  torch.directory = torch_directory;
  find_torch(subject, packages, torch);
  return subject;
}

accel::ProbeResult probe_subject(Subject& subject, std::chrono::milliseconds limit) {
  accel::ProbeResult result;
  if (!subject.package.manifest || subject.manifest().kind != accel::Manifest::Kind::kPlugin) return result;
  const accel::Manifest& manifest = subject.manifest();
  try {
    accel::ProbeRequest request;
    request.library = accel::package_file(subject.package.directory, manifest.probe.value_or(manifest.library));
    request.package_directory = subject.package.directory;
    request.device_archs = join(manifest.device_archs, ";");
    request.torch_directory = subject.own_torch.directory;
    request.torch_version = subject.own_torch.version;
    if (!manifest.probe) request.preload = subject.torch.preload;
    result = accel::run_probes({request}, limit, accel::probe_helper()).front();
  } catch (const Error& error) {
    result.reason = error.what();
    result.reason_code = "failed";
  }
  subject.probed_devices = result.device_count;
  subject.unavailable = result.reason;
  if (result.usable) subject.unavailable = subject.own_torch.problem;  // empty when it can be used
  return result;
}

}  // namespace lerobot::check
