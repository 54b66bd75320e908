#include "host/hub/download.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/log.h"
#include "host/hub/file_receiver.h"
#include "host/report/progress_bar.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kMegabyte = 1e6;
constexpr std::chrono::seconds kBetweenLines{10};

/// A bar on a terminal, and a line now and then elsewhere.
class Progress {
 public:
  explicit Progress(std::uint64_t total) : total_(total), begin_(Clock::now()), told_(begin_) {
    if (report::ProgressBar::is_shown()) bar_.emplace("Downloading", "MB", megabytes(static_cast<std::int64_t>(total)));
  }

  void add(std::int64_t bytes) {
    done_ += bytes;
    if (bar_) {
      bar_->advance(megabytes(done_) - shown_);
      shown_ = megabytes(done_);
      return;
    }
    const auto now = Clock::now();
    if (now - told_ < kBetweenLines) return;
    told_ = now;
    log::info("{:.0f} of {:.0f} MB, {:.1f} MB/s", static_cast<double>(done_) / kMegabyte,
              static_cast<double>(total_) / kMegabyte, static_cast<double>(done_) / kMegabyte / seconds());
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  static std::int64_t megabytes(std::int64_t bytes) { return (bytes + 999'999) / 1'000'000; }

  std::uint64_t total_;
  Clock::time_point begin_, told_;
  std::int64_t done_ = 0, shown_ = 0;
  std::optional<report::ProgressBar> bar_;
};

/// The files that are not there yet.
class Downloads : public TransferSource {
 public:
  Downloads(const Source& source, Store& store, Listing files)
      : source_(source), store_(store), files_(files.begin(), files.end()), progress_(bytes()) {}

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const RemoteFile& file : files_) sum += file.size;
    return sum;
  }
  double seconds() const { return progress_.seconds(); }

  std::optional<Transfer> next() override {
    for (std::size_t tried = 0, all = files_.size(); tried < all; ++tried) {
      RemoteFile file = std::move(files_.front());
      files_.pop_front();
      std::optional<FileLock> lock = FileLock::try_lock(store_.lock(file));
      if (!lock) {
        tell_waiting(file);
        files_.push_back(std::move(file));
        continue;
      }
      if (store_.provide(file)) {  // another process was faster
        progress_.add(static_cast<std::int64_t>(file.size));
        continue;
      }
      if (auto transfer = begin(std::move(file), std::move(*lock))) return transfer;
    }
    return std::nullopt;
  }
  bool is_exhausted() const override { return files_.empty(); }

 private:
  std::optional<Transfer> begin(RemoteFile file, FileLock lock) {
    const std::string path = file.path;
    const auto size = file.size;
    auto receiver = std::make_shared<FileReceiver>(source_, store_, std::move(file), std::move(lock),
                                                   [this](std::int64_t bytes) { progress_.add(bytes); });
    // All of it may be here already, from a download that was killed at its end, or because it is empty.
    if (receiver->offset() == size && receiver->end() == Receiver::End::kDone) return std::nullopt;
    return Transfer{source_.prefix + percent_encode(path, /*keep_slashes=*/true), source_.name + ": " + path,
                    std::move(receiver)};
  }

  void tell_waiting(const RemoteFile& file) {
    if (is_waiting_told_) return;
    is_waiting_told_ = true;
    log::info("{}: another process downloads {}; waiting for it where there is nothing else to do", source_.name,
              file.path);
  }

  const Source& source_;
  Store& store_;
  std::deque<RemoteFile> files_;
  Progress progress_;
  bool is_waiting_told_ = false;
};

std::uint64_t size_of_part(const fs::path& path) {
  std::error_code ec;
  const std::uintmax_t size = fs::file_size(path, ec);
  return ec ? 0 : size;
}

void check_room(const Source& source, const Store& store, const Listing& files) {
  std::uint64_t needed = 0;
  for (const RemoteFile& file : files) needed += file.size - std::min(file.size, size_of_part(store.partial(file)));
  const std::uintmax_t free = free_bytes(store.root());
  if (needed <= free) return;
  fail(
      ErrorKind::kIo,
      "{}: the download needs {} MB, and {} has {} MB free. Make room, or set HF_HOME (datasets: HF_LEROBOT_HOME) to a "
      "larger disk; --dataset.episodes downloads less.",
      source.name, needed / 1'000'000 + 1, store.root().string(), free / 1'000'000);
}

}  // namespace

void download(HttpClient& client, const Source& source, Store& store, const Listing& files) {
  Listing missing;
  std::ranges::copy_if(files, std::back_inserter(missing),
                       [&](const RemoteFile& file) { return !store.provide(file); });
  if (missing.empty()) return;
  check_room(source, store, missing);
  const std::size_t count = missing.size();
  Downloads downloads(source, store, std::move(missing));
  const double megabytes = static_cast<double>(downloads.bytes()) / kMegabyte;
  log::info("{}: downloading {} files, {:.1f} MB, to {}", source.name, count, megabytes, store.root().string());
  client.run(downloads);
  log::info("{}: downloaded in {:.1f} s", source.name, downloads.seconds());
}

}  // namespace lerobot::hub
