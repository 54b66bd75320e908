#include "host/data/audit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/dataset.h"
#include "host/data/file_check.h"
#include "host/data/preflight.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;
namespace fs = std::filesystem;

constexpr std::string_view kInfoPath = "meta/info.json";

/// The longest of these names that a message holds, else the first one.
std::string named_file(std::string_view message, const std::vector<std::string>& names) {
  std::string found;
  for (const std::string& name : names) {
    if (name.size() > found.size() && message.find(name) != std::string_view::npos) found = name;
  }
  return found.empty() ? names.front() : found;
}

bool is_for_policies(const std::string& key) {
  return key.starts_with("observation") || key.starts_with("action");
}

class Auditor {
 public:
  explicit Auditor(const AuditOptions& options) : options_(options) {}

  Audit run() {
    check_there();
    if (!load_metadata()) return audit_;
    audit_.episodes = std::ssize(metadata_->episodes());
    audit_.frames = metadata_->total_frames();
    guarded({std::string(kInfoPath)}, [&] { check_totals(); });
    check_statistics();
    check_all_videos();
    check_all_data();
    check_frames();
    return audit_;
  }

 private:
  void check_there() const {
    if (fs::exists(options_.root / kInfoPath)) return;
    fail(ErrorKind::kData, "no dataset at {}: meta/info.json is not there. Name the folder that holds meta/ and data/.",
         options_.root.string());
  }

  void add(std::string file, std::string text) {
    const std::lock_guard lock(mutex_);
    Finding finding{std::move(file), std::move(text)};
    if (std::ranges::find(audit_.findings, finding) == audit_.findings.end()) audit_.findings.push_back(finding);
  }

  /// Runs it; what it throws is a finding of the file among `names` that the message names. False then.
  template <class Run>
  bool guarded(const std::vector<std::string>& names, const Run& run) {
    try {
      run();
      return true;
    } catch (const Error& error) {
      add(named_file(error.what(), names), error.what());
    }
    return false;
  }

  bool load_metadata() {
    std::vector<std::string> names = {std::string(kInfoPath)};
    for (const Layout* layout : {&kLayoutV30, &kLayoutV21}) {
      for (const std::string_view name : {layout->tasks, layout->episodes, layout->stats}) names.emplace_back(name);
    }
    for (const char* folder : {"meta", "data", "videos"})
      std::ranges::move(files_below(options_.root, folder), std::back_inserter(names));
    const std::size_t known = audit_.findings.size();
    try {
      metadata_ = std::make_shared<const DatasetMetadata>(DatasetMetadata::load(options_.root));
      return true;
    } catch (const Error& error) {
      // Of several files that cannot be used the message is one line; here each is a finding.
      for (const std::string& name : names) {
        const bool is_file = fs::path(name).has_extension();  // meta/episodes is a folder
        if (!is_file || std::string_view(error.what()).find(name) == std::string_view::npos) continue;
        if (const auto problem = file_problem(options_.root / name)) add(name, name + " is " + *problem);
      }
      if (audit_.findings.size() == known) add(named_file(error.what(), names), error.what());
    }
    return false;
  }

  /// The trainer only warns of these: it goes by the episodes.
  void check_totals() {
    const bj::value document = json::read_file(options_.root / kInfoPath, ErrorKind::kData);
    const auto check = [&](std::string_view key, std::int64_t found) {
      const bj::value* declared = document.as_object().if_contains(key);
      if (declared == nullptr || !declared->is_int64() || declared->get_int64() == found) return;
      add(std::string(kInfoPath),
          format("{}: {} is {}, but there are {}.", kInfoPath, key, declared->get_int64(), found));
    };
    check("total_episodes", audit_.episodes);
    check("total_frames", audit_.frames);
    check("total_tasks", std::ssize(metadata_->tasks()));
  }

  /// What the default normalization of states and actions takes. What is missing is computed when a run starts.
  void check_statistics() {
    const std::string source(metadata_->layout().stats);
    for (const auto& [key, feature] : metadata_->features()) {
      const FeatureStats* stats = metadata_->stats().find(key);
      if (!feature.is_number() || !is_for_policies(key) || stats == nullptr) continue;
      for (const std::string_view name : {"mean", "std"}) {
        if (!stats->contains(name)) continue;
        const Stat& stat = *stats->find(name);
        if (std::ssize(stat.values) != feature.elements()) {
          add(source, format("{}: {} of {} has {} numbers, needed {}. Recompute the statistics.", source, name, key,
                             stat.values.size(), feature.elements()));
        } else if (!std::ranges::all_of(stat.values, [](double value) { return std::isfinite(value); })) {
          add(source, format("{}: {} of {} is not finite. Recompute the statistics.", source, name, key));
        }
      }
    }
  }

  void check_all_videos() {
    std::set<std::string> bad;
    for (const Finding& finding : video_findings(*metadata_, metadata_->episodes())) {
      bad.insert(finding.file);
      add(finding.file, finding.text);
    }
    for (const Episode& episode : metadata_->episodes()) {
      for (std::size_t video = 0; video < episode.videos.size(); ++video) {
        if (bad.contains(metadata_->video_path(episode, video))) unsound_.insert(episode.index);
      }
    }
  }

  void check_all_data() {
    std::map<std::string, std::vector<Episode>> by_file;
    for (const Episode& episode : metadata_->episodes()) by_file[metadata_->data_path(episode)].push_back(episode);
    for (auto& [file, episodes] : by_file) {
      if (check_data_file(file, episodes)) continue;
      for (const Episode& episode : episodes) unsound_.insert(episode.index);
    }
  }

  /// False when a row of the file cannot be trained on.
  bool check_data_file(const std::string& file, std::vector<Episode>& episodes) {
    if (const auto problem = file_problem(options_.root / file)) {
      add(file, file + " is " + *problem);
      return false;
    }
    bool sound = true;
    sound &= guarded({file}, [&] {
      const FrameTable table(*metadata_, episodes);
      check_finite(file, table);
      sound &= guarded({file}, [&] { check_timestamps(*metadata_, episodes, table, options_.tolerance_s); });
      sound &= guarded({file}, [&] { check_tasks(*metadata_, episodes, table); });
    });
    return sound;
  }

  void check_finite(const std::string& file, const FrameTable& table) {
    for (const NonFiniteColumn& column : find_non_finite(table)) {
      add(file, format("{}: column {} has {} values that are not finite, the first in row {}.", file, column.key,
                       column.nan + column.infinite, column.first_row));
    }
  }

  /// Frames of the episodes in which nothing was found yet.
  void check_frames() {
    DatasetOptions options;
    options.root = options_.root;
    options.metadata = metadata_;
    options.tolerance_s = options_.tolerance_s;
    options.frame_cache_bytes = 0;
    options.episodes.emplace();
    for (const Episode& episode : metadata_->episodes()) {
      if (!unsound_.contains(episode.index)) options.episodes->push_back(episode.index);
    }
    const std::size_t cameras = metadata_->camera_keys().size();
    if (options.episodes->empty() || cameras == 0) return;
    if (!options_.everything) options.episodes->resize(1);
    std::optional<Dataset> dataset;
    const std::vector<std::string> files = files_of(*options.episodes);
    if (!guarded(files, [&] { dataset.emplace(options); })) return;
    if (options_.everything) {
      read_all(*dataset, cameras);
    } else {
      audit_.frames_decoded = static_cast<std::int64_t>(cameras);
    }
  }

  std::vector<std::string> files_of(const std::vector<std::int64_t>& numbers) const {
    std::vector<std::string> files = {std::string(kInfoPath)};
    for (const Episode& episode : choose_episodes(*metadata_, numbers, {})) {
      std::ranges::move(metadata_->files(episode), std::back_inserter(files));
    }
    return files;
  }

  void read_all(const Dataset& dataset, std::size_t cameras) {
    if (options_.on_start) options_.on_start(dataset.num_episodes());
    std::atomic<std::size_t> next = 0;
    std::atomic<std::int64_t> frames = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < dataset.episodes().size(); i = next++) {
        frames += read_episode(dataset, dataset.episodes()[i]);
        const std::lock_guard lock(mutex_);
        if (options_.on_episode) options_.on_episode();
      }
    };
    {
      std::vector<std::jthread> workers;
      for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
      work();
    }
    audit_.frames_decoded = frames * static_cast<std::int64_t>(cameras);
  }

  /// The number of its rows that could be read: it ends at the first that cannot.
  std::int64_t read_episode(const Dataset& dataset, const Episode& episode) {
    OrderedMap<Buffer> item;
    for (const TensorSpec& spec : dataset.layout()) item.append(spec.key, make_buffer(spec.dtype, spec.shape));
    std::int64_t frame = 0;
    guarded(metadata_->files(episode), [&] {
      for (; frame < episode.length(); ++frame) dataset.read(episode.first_row + frame, item, 0);
    });
    return frame;
  }

  const AuditOptions& options_;
  std::shared_ptr<const DatasetMetadata> metadata_;
  std::set<std::int64_t> unsound_;  ///< episodes
  std::mutex mutex_;                ///< guards the findings, and calls back
  Audit audit_;
};

}  // namespace

Audit audit_dataset(const AuditOptions& options) {
  return Auditor(options).run();
}

}  // namespace lerobot::data
