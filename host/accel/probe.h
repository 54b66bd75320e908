#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lerobot::accel {

/// One device as a plugin's probe reports it. Empty texts and zeros: not known.
struct ProbedDevice {
  std::string name;
  std::string architecture;
  std::string pci_address;
  std::string uuid;
  std::uint64_t memory_total = 0;  ///< bytes
  std::uint64_t capabilities = 0;  ///< LRA_CAP_ bits
  std::string counted_by;          ///< id of an earlier plugin that reported the same card
};

/// What to run in a child process.
struct ProbeRequest {
  std::filesystem::path library;               ///< the thin library, or the full one when there is no thin one
  std::filesystem::path package_directory;     ///< absolute
  std::string device_archs;                    ///< joined by ';'
  std::filesystem::path torch_directory;       ///< of the torch that the plugin would run on; empty: none
  std::string torch_version;                   ///< of that torch; empty: not known
  std::vector<std::filesystem::path> preload;  ///< for a full library: what it needs opened before it, in order
};

struct ProbeResult {
  bool usable = false;
  std::string reason_code;  ///< "no-driver", "hidden", ...; "failed" when the probe gave no answer
  std::string reason;       ///< why not usable, or a remark
  std::string cure;
  std::string driver_version;
  std::vector<ProbedDevice> devices;
  std::uint32_t device_count = 0;  ///< may be more than `devices` lists
  double milliseconds = 0;
  std::string output;  ///< the end of what the child printed
  int pid = 0;         ///< of the child
};

constexpr std::chrono::milliseconds kProbeLimit{10000};

/// Runs all probes at the same time, each in a child process of its own, and waits at most `limit`. The results stand
/// in the order of the requests. A child that crashes, hangs, exits early or answers nonsense is a result with a
/// reason.
///
/// The children run `helper`, a small program of its own beside the host library, rather than the calling program with
/// a hidden argument: every program, test and embedding application can probe without preparing its main() for it, and
/// the child starts without the caller's options, threads and open files.
std::vector<ProbeResult> run_probes(const std::vector<ProbeRequest>& requests, std::chrono::milliseconds limit,
                                    const std::filesystem::path& helper);

/// lerobot-accel-probe beside the host library.
std::filesystem::path probe_helper();

/// The main function of the helper: `request` is what run_probes gave it. Answers with one JSON line on standard output
/// and ends the process.
[[noreturn]] void run_probe_child(const std::string& request);

}  // namespace lerobot::accel
