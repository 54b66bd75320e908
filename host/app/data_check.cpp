#include <boost/json/value.hpp>
#include <iostream>
#include <optional>

#include "host/app/data_commands.h"
#include "host/base/json.h"
#include "host/data/audit.h"
#include "host/report/progress_bar.h"

namespace lerobot {
namespace {

namespace bj = boost::json;

/// Of `check --json` (docs/datasets.md): raised when a key changes its meaning or goes away, not when one is added.
constexpr int kCheckSchema = 1;

void print_json(const DataCommand& command, const data::Audit& audit) {
  bj::array findings;
  for (const data::Finding& finding : audit.findings) {
    findings.push_back(bj::object{{"file", finding.file}, {"text", finding.text}});
  }
  const bj::object out{{"schema", kCheckSchema},
                       {"root", command.root.string()},
                       {"sound", audit.findings.empty()},
                       {"findings", std::move(findings)},
                       {"episodes", audit.episodes},
                       {"frames", audit.frames},
                       {"frames_decoded", audit.frames_decoded}};
  std::cout << json::write(out) << '\n';
}

void print_text(const DataCommand& command, const data::Audit& audit) {
  for (const data::Finding& finding : audit.findings) {
    std::cout << finding.file << '\n' << "  " << finding.text << '\n';
  }
  const std::size_t count = audit.findings.size();
  const std::string verdict = count == 0 ? "sound" : format("{} {}", count, count == 1 ? "finding" : "findings");
  std::cout << format("{}: {} ({} episodes, {} frames; decoded camera frames: {})\n", command.root.string(), verdict,
                      audit.episodes, audit.frames, audit.frames_decoded);
}

}  // namespace

int check_dataset(const DataCommand& command, bool everything, double tolerance_s) {
  std::optional<report::ProgressBar> progress;
  const data::Audit audit =
      data::audit_dataset({.root = command.root,
                           .everything = everything,
                           .tolerance_s = tolerance_s,
                           .on_start = [&](std::int64_t total) { progress.emplace("Decoding", "episode", total); },
                           .on_episode = [&] { progress->advance(); }});
  progress.reset();
  command.json ? print_json(command, audit) : print_text(command, audit);
  return audit.findings.empty() ? 0 : 1;
}

}  // namespace lerobot
