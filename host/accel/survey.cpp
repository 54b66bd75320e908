#include <algorithm>

#include "host/accel/backends.h"
#include "host/accel/choice.h"
#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace {

bool before(const Candidate& a, const Candidate& b) {
  const auto priority = [](const Candidate& c) { return c.package.manifest ? c.package.manifest->priority : 0; };
  const int rank = rank_of(a.package.id);
  if (rank != rank_of(b.package.id)) return rank < rank_of(b.package.id);
  if (rank == kThirdPartyRank && priority(a) != priority(b)) return priority(a) > priority(b);
  return a.package.id < b.package.id;
}

void set(Candidate& candidate, State state, std::string reason, std::string cure = "") {
  candidate.state = state;
  candidate.reason = std::move(reason);
  candidate.cure = std::move(cure);
}

/// Everything before the probe; true when the probe is to run.
bool check(Candidate& candidate, const std::vector<Package>& packages, const SurveyOptions& options) {
  const Package& package = candidate.package;
  if (package.shadowed_by) {
    set(candidate, State::kShadowed, "shadowed by " + package.shadowed_by->string());
    return false;
  }
  if (const std::string why = filtered_out(package.id, options.search.variables); !why.empty()) {
    set(candidate, State::kLeftOut, why);
    return false;
  }
  if (!package.manifest) {
    set(candidate, State::kUnfit, package.problem);
    return false;
  }
  if (options.plugin && package.id != *options.plugin) {
    set(candidate, State::kNotAsked, "--plugin names another");
    return false;
  }
  if (options.device_type && !candidate.serves(*options.device_type)) {
    set(candidate, State::kNotAsked, "serves " + join(package.manifest->device_types, ", "));
    return false;
  }
  if (const auto excluded = options.excluded.find(package.id); excluded != options.excluded.end()) {
    set(candidate, State::kExcluded, excluded->second);
    return false;
  }
  try {
    candidate.checked =
        check_statically(package, packages, options.torch, options.search.libraries, options.hash_everything);
    return true;
  } catch (const Error& error) {
    set(candidate, State::kUnfit, error.what());
    return false;
  }
}

ProbeRequest request_for(const Candidate& candidate) {
  ProbeRequest request;
  request.library = candidate.checked.probe;
  request.package_directory = std::filesystem::canonical(candidate.package.directory);
  request.device_archs = join(candidate.package.manifest->device_archs, ";");
  request.torch_directory = candidate.checked.torch.directory;
  request.torch_version = candidate.checked.torch.version;
  if (!candidate.checked.thin) request.preload = candidate.checked.torch.preload;
  return request;
}

/// The same card under two plugins counts once: for the first of them that can use it.
void count_cards_once(std::vector<Candidate*>& probed) {
  std::map<std::string, std::string> seen;
  for (Candidate* candidate : probed) {
    if (candidate->state != State::kUsable) continue;
    for (ProbedDevice& device : candidate->probe.devices) {
      const std::string& card = device.pci_address.empty() ? device.uuid : device.pci_address;
      if (card.empty()) continue;
      const auto [first, is_new] = seen.emplace(card, candidate->package.id);
      if (!is_new && first->second != candidate->package.id) device.counted_by = first->second;
    }
  }
}

void probe_all(std::vector<Candidate*>& candidates, const SurveyOptions& options) {
  std::vector<ProbeRequest> requests;
  for (const Candidate* candidate : candidates) requests.push_back(request_for(*candidate));
  std::vector<ProbeResult> results = run_probes(requests, options.probe_limit, probe_helper());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& candidate = *candidates[i];
    candidate.probe = std::move(results[i]);
    if (!candidate.probe.usable) {
      set(candidate, State::kUnavailable, candidate.probe.reason, candidate.probe.cure);
    } else if (std::string why = why_not_loadable(candidate.checked, options.search.libraries); !why.empty()) {
      set(candidate, State::kUnfit, std::move(why));
    } else {
      candidate.state = State::kUsable;
    }
  }
  count_cards_once(candidates);
}

}  // namespace

std::string_view state_name(State state) {
  switch (state) {
    case State::kUsable:
      return "usable";
    case State::kUnavailable:
      return "unavailable";
    case State::kUnfit:
      return "unfit";
    case State::kLeftOut:
      return "left out";
    case State::kExcluded:
      return "failed";
    case State::kShadowed:
      return "shadowed";
    case State::kNotAsked:
      return "not asked";
  }
  return "";
}

bool Candidate::serves(const std::string& device_type) const {
  const auto& manifest = package.manifest;
  return manifest && std::ranges::find(manifest->device_types, device_type) != manifest->device_types.end();
}

Survey survey(const SurveyOptions& options) {
  Survey found;
  found.variables = options.search.variables;
  found.hardware = scan_hardware(hardware_sysroot(found.variables));
  const std::vector<Package> packages = find_packages(options.search);
  for (const Package& package : packages) {
    if (package.manifest && package.manifest->kind == Manifest::Kind::kTorch) {
      found.torch_packages.push_back(package);
    } else {
      found.candidates.emplace_back().package = package;
    }
  }
  std::ranges::stable_sort(found.candidates, before);
  std::vector<Candidate*> to_probe;
  for (Candidate& candidate : found.candidates) {
    if (check(candidate, packages, options)) to_probe.push_back(&candidate);
  }
  probe_all(to_probe, options);
  return found;
}

}  // namespace lerobot::accel
