#include "host/report/progress_bar.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "host/base/format.h"

namespace lerobot::report {
namespace {

constexpr int kWidth = 20;
constexpr std::chrono::milliseconds kRedraw{100};

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  const std::int64_t hours = whole / 3600;
  const std::string rest = format("{:02}:{:02}", whole / 60 % 60, whole % 60);
  return hours > 0 ? format("{}:{}", hours, rest) : rest;
}

}  // namespace

std::string progress_text(const std::string& title, const std::string& unit, std::int64_t done, std::int64_t total,
                          double seconds) {
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
  const int filled = static_cast<int>(share * kWidth);
  const std::string bar =
      std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(kWidth - filled), ' ');
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0.0;
  const std::string left = rate > 0 ? clock_text(static_cast<double>(total - done) / rate) : "?";
  return format("{}: {:3.0f}%|{}| {}/{} [{}<{}, {:.2f}{}/s]", title, share * 100, bar, done, total, clock_text(seconds),
                left, rate, unit);
}

bool ProgressBar::is_shown() {
  return ::isatty(STDERR_FILENO) != 0 && std::getenv("SLURM_JOB_ID") == nullptr;
}

ProgressBar::ProgressBar(std::string title, std::string unit, std::int64_t total)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      enabled_(is_shown()),
      begin_(std::chrono::steady_clock::now()),
      drawn_(begin_),
      hook_{[](void* self) {
              auto* bar = static_cast<ProgressBar*>(self);
              bar->mutex_.lock();
              bar->erase();
            },
            [](void* self) {
              auto* bar = static_cast<ProgressBar*>(self);
              bar->draw();
              bar->mutex_.unlock();
            },
            this} {
  if (!enabled_) return;
  outer_ = log::set_line_hook(&hook_);
  const std::lock_guard lock(mutex_);
  draw();
}

ProgressBar::~ProgressBar() {
  if (!enabled_) return;
  log::set_line_hook(outer_);
  const std::lock_guard lock(mutex_);
  if (outer_ != nullptr) {
    erase();
    return;
  }
  draw();
  std::fputc('\n', stderr);
}

void ProgressBar::advance(std::int64_t by) {
  done_ += by;
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < kRedraw && done_ < total_) return;
  drawn_ = now;
  const std::lock_guard lock(mutex_);
  draw();
}

void ProgressBar::draw() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  std::fprintf(stderr, "\r\033[K%s", progress_text(title_, unit_, done_, total_, seconds).c_str());
  std::fflush(stderr);
}

void ProgressBar::erase() {
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace lerobot::report
