// What the files of a package say before any code of it runs.
#include <algorithm>
#include <array>
#include <set>

#include "host/accel/abi.h"
#include "host/accel/dependencies.h"
#include "host/accel/elf.h"
#include "host/accel/sha256.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace fs = std::filesystem;
namespace {

/// The thin library, if there is one, and the full one.
std::vector<fs::path> libraries(const Run& run) {
  std::vector<fs::path> files = {run.library_file()};
  if (run.subject().manifest().probe) files.push_back(run.probe_file());
  return files;
}

void manifest(Run& run) {
  run.require(run.subject().package.manifest.has_value(), "{}", run.subject().package.problem);
}

void directory_name(Run& run) {
  const std::string name = run.subject().package.directory.filename().string();
  const std::string& id = run.subject().manifest().id;
  run.expect(name == id, "the directory is called {}, the manifest's id is {}", name, id);
}

/// Every file that code comes from has its hash.
void hashes(Run& run) {
  const accel::Manifest& manifest = run.subject().manifest();
  const fs::path& package = run.subject().package.directory;
  std::set<std::string> listed;
  for (const auto& [file, expected] : manifest.sha256) {
    listed.insert(file);
    const std::string found = accel::sha256_file(accel::package_file(package, file));
    run.expect(found == expected, "{}: its SHA-256 is {}..., the manifest says {}...", file, found.substr(0, 12),
               expected.substr(0, 12));
  }
  std::vector<std::string> needed = manifest.preload;
  if (manifest.probe) needed.push_back(*manifest.probe);
  if (!manifest.library.empty()) needed.push_back(manifest.library);
  for (const std::string& file : needed) run.expect(listed.contains(file), "{}: sha256 does not list it", file);
}

void permissions(Run& run) {
  const accel::Manifest& manifest = run.subject().manifest();
  const fs::path& package = run.subject().package.directory;
  std::vector<fs::path> files = {package, package / "manifest.json"};
  for (const auto& [file, hash] : manifest.sha256) files.push_back(accel::package_file(package, file));
  for (const fs::path& file : files) {
    try {
      accel::require_private(file);
    } catch (const Error& error) {
      run.expect(false, "{}", error.what());
    }
  }
}

void versions(Run& run) {
  const accel::Manifest& manifest = run.subject().manifest();
  const accel::AbiRange& abi = manifest.abi;
  run.expect(abi.major_min <= accel::kAbiMajorMax && abi.major_max >= accel::kAbiMajorMin,
             "abi: majors {} to {}, this program speaks {} to {}", abi.major_min, abi.major_max, accel::kAbiMajorMin,
             accel::kAbiMajorMax);
  const bool has_torch = manifest.torch.kind != accel::TorchSource::Kind::kNone;
  run.expect(has_torch == !manifest.torch_version.empty(), "torch_version is \"{}\", torch is {}",
             manifest.torch_version, has_torch ? "given" : "null");
  run.expect(!has_torch || !accel::major_minor(manifest.torch_version).empty(),
             "torch_version is \"{}\", needed numbers as in 2.11.0", manifest.torch_version);
  run.expect(!manifest.device_types.empty(), "device_types is empty: no --policy.device can ever name it");
}

void architecture(Run& run) {
  const auto& list = run.subject().manifest().architectures;
  for (const fs::path& library : libraries(run)) {
    const std::string found = accel::read_elf(library).architecture;
    run.expect(list.empty() || std::ranges::find(list, found) != list.end(), "{}: is for {}, the manifest says {}",
               library.filename().string(), found, join(list, ", "));
  }
}

void exports(Run& run) {
  const auto expect = [&](const fs::path& library, const std::vector<std::string>& needed) {
    const std::vector<std::string> found = accel::exported_symbols(library);
    run.expect(found == needed, "{}: exports {}, needed {} alone", library.filename().string(),
               found.empty() ? "nothing" : join(found, ", "), join(needed, " and "));
  };
  const bool thin = run.subject().manifest().probe.has_value();
  if (thin) expect(run.probe_file(), {LRA_PROBE_SYMBOL});
  expect(run.library_file(), thin ? std::vector<std::string>{LRA_GET_API_SYMBOL}
                                  : std::vector<std::string>{LRA_GET_API_SYMBOL, LRA_PROBE_SYMBOL});
}

/// The C and C++ run-time libraries of this platform.
bool is_system_library(const std::string& name) {
  constexpr std::array kPatterns = {"libc.so.*",      "libm.so.*",      "libdl.so.*",     "libpthread.so.*",
                                    "librt.so.*",     "libstdc++.so.*", "libgcc_s.so.*",  "libc++.so.*",
                                    "libc++abi.so.*", "ld-linux*.so.*", "libatomic.so.*", "linux-vdso.so.*"};
  return std::ranges::any_of(kPatterns, [&](const char* pattern) { return glob_match(pattern, name); });
}

void probe_needs(Run& run) {
  if (!run.subject().manifest().probe) throw Skipped("there is no thin library");
  for (const std::string& name : accel::read_elf(run.probe_file()).needed) {
    run.expect(is_system_library(name),
               "{}: needs {}; a thin library links the C and C++ libraries only and opens a driver when it is asked",
               run.probe_file().filename().string(), name);
  }
}

/// Torch through libtorch_cpu and libc10 alone: their symbols are the same in every torch of one version.
void library_needs(Run& run) {
  for (const std::string& name : accel::read_elf(run.library_file()).needed) {
    const bool torch = glob_match("libtorch*", name) || glob_match("libc10*", name);
    run.expect(!torch || name == "libtorch_cpu.so" || name == "libc10.so",
               "{}: needs {}; of torch only libtorch_cpu.so and libc10.so may be linked",
               run.library_file().filename().string(), name);
  }
}

void dependencies(Run& run) {
  const auto expect_closed = [&](const fs::path& library, const std::vector<fs::path>& provided) {
    for (const accel::MissingLibrary& missing : accel::missing_libraries(library, provided)) {
      run.expect(false, "{} is missing (needed by {})", missing.chain.back(),
                 join({missing.chain.begin(), missing.chain.end() - 1}, " -> "));
    }
  };
  if (run.subject().manifest().probe) expect_closed(run.probe_file(), {});
  const bool brings_torch = run.subject().manifest().torch.kind == accel::TorchSource::Kind::kDirectory;
  run.expect(!brings_torch || run.subject().own_torch.problem.empty(), "{}", run.subject().own_torch.problem);
  if (!run.subject().has_torch) throw Skipped(run.subject().own_torch.problem);
  std::vector<fs::path> opened;
  for (const fs::path& file : run.subject().torch.preload) {
    expect_closed(file, opened);
    opened.push_back(file);
  }
  expect_closed(run.library_file(), opened);
}

void run_path(Run& run) {
  for (const fs::path& library : libraries(run)) {
    const auto paths = accel::read_elf(library).search_path;
    run.expect(paths.empty(),
               "{}: has the run path {}; it ties the package to one place and can bring in another torch",
               library.filename().string(), join(paths, ":"));
  }
}

}  // namespace

std::vector<Check> static_checks() {
  return {
      {"static.manifest", "manifest.json can be read: schema, required keys, bounded values", manifest, true},
      {"static.directory-name", "the directory is named as the manifest's id", directory_name, true},
      {"static.hashes", "sha256 lists every library, with the right hash", hashes, true},
      {"static.permissions", "nobody else can write to the files", permissions, true},
      {"static.versions", "ABI range, torch version and device types make sense", versions},
      {"static.architecture", "the libraries are for a machine that the manifest lists", architecture},
      {"static.exports", "each library exports its one entry point and nothing else", exports},
      {"static.probe-needs", "the thin library links no torch, no vendor, nothing but the system's libraries",
       probe_needs},
      {"static.library-needs", "the full library links nothing of torch but libtorch_cpu and libc10", library_needs},
      {"static.dependencies", "every library that is needed is found, with torch loaded before", dependencies},
      {"static.run-path", "no library has an RPATH or RUNPATH", run_path},
  };
}

}  // namespace lerobot::check
