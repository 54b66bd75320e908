#include <algorithm>
#include <cmath>
#include <numbers>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/optim/scheduler.h"

namespace lerobot::optim {
namespace {

using std::numbers::pi;

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
}

// Rises linearly from 0 to 1 in `warmup` steps, then follows `rest`.
Schedule with_warmup(std::int64_t warmup, Schedule rest) {
  return [warmup, rest = std::move(rest)](std::int64_t n) { return n < warmup ? ratio(n, warmup) : rest(n); };
}

double constant(std::int64_t) {
  return 1.0;
}

// `cycles` waves from 1 to 0 and back; half a wave is the usual decay.
double cosine(double cycles, double progress) {
  return std::max(0.0, 0.5 * (1.0 + std::cos(pi * cycles * 2.0 * progress)));
}

Schedule half_cosine(std::int64_t warmup, std::int64_t total) {
  return with_warmup(warmup, [=](std::int64_t n) { return cosine(0.5, ratio(n - warmup, total - warmup)); });
}

Schedule linear(std::int64_t warmup, std::int64_t total) {
  return with_warmup(warmup, [=](std::int64_t n) { return std::max(0.0, ratio(total - n, total - warmup)); });
}

Schedule cosine_once(std::int64_t warmup, std::int64_t total) {
  return with_warmup(warmup, [=](std::int64_t n) {
    const double progress = ratio(n - warmup, total - warmup);
    return progress >= 1.0 ? 0.0 : std::max(0.0, 0.5 * (1.0 + std::cos(pi * std::fmod(progress, 1.0))));
  });
}

Schedule to_end_rate(std::int64_t warmup, std::int64_t total, double lr) {
  constexpr double kEnd = 1e-7;
  if (lr <= kEnd)
    fail(ErrorKind::kConfig, "--optimizer.lr: found {}, needed more than {} for the polynomial schedule.", lr, kEnd);
  return with_warmup(warmup, [=](std::int64_t n) {
    if (n > total) return kEnd / lr;
    const double remaining = 1.0 - static_cast<double>(n - warmup) / static_cast<double>(total - warmup);
    return ((lr - kEnd) * remaining + kEnd) / lr;
  });
}

struct Make {
  double lr;
  std::int64_t total;

  Schedule operator()(const config::DiffuserSchedulerConfig& c) const {
    if (c.name == "constant") return constant;
    if (!c.num_warmup_steps) {
      fail(ErrorKind::kConfig, "--scheduler.num_warmup_steps: found null, needed a number for the schedule {}.",
           c.name);
    }
    const std::int64_t warmup = *c.num_warmup_steps;
    if (c.name == "constant_with_warmup") return with_warmup(warmup, constant);
    if (c.name == "cosine") return half_cosine(warmup, total);
    if (c.name == "linear") return linear(warmup, total);
    if (c.name == "cosine_with_restarts") return cosine_once(warmup, total);
    if (c.name == "polynomial") return to_end_rate(warmup, total, lr);
    fail(ErrorKind::kConfig,
         "--scheduler.name: found {}, needed constant, constant_with_warmup, cosine, cosine_with_restarts, linear or "
         "polynomial.",
         c.name);
  }

  Schedule operator()(const config::VqBetSchedulerConfig& c) const {
    return [c, t = total](std::int64_t n) {
      if (n < c.num_vqvae_training_steps) return 1.0;
      const std::int64_t adjusted = n - c.num_vqvae_training_steps;
      if (adjusted < c.num_warmup_steps) return ratio(adjusted, c.num_warmup_steps);
      return cosine(c.num_cycles, ratio(adjusted - c.num_warmup_steps, t - c.num_warmup_steps));
    };
  }

  Schedule operator()(const config::ConstantWithWarmupSchedulerConfig& c) const {
    return with_warmup(c.num_warmup_steps, constant);
  }

  Schedule operator()(const config::CosineAnnealingWithWarmupSchedulerConfig& c) const {
    return half_cosine(c.num_warmup_steps, total);
  }

  // Time is not shifted by the warm-up, so the rate jumps where it ends; Python's does too.
  Schedule operator()(const config::CosineDecayWithWarmupSchedulerConfig& c) const {
    if (c.peak_lr <= 0) fail(ErrorKind::kConfig, "--scheduler.peak_lr: found {}, needed more than 0.", c.peak_lr);
    if (c.num_decay_steps < 1)
      fail(ErrorKind::kConfig, "--scheduler.num_decay_steps: found {}, needed 1 or more.", c.num_decay_steps);
    std::int64_t warmup = c.num_warmup_steps, decay = c.num_decay_steps;
    if (total < decay) {
      warmup = static_cast<std::int64_t>(static_cast<double>(warmup) *
                                         (static_cast<double>(total) / static_cast<double>(decay)));
      decay = total;
      log::info("Scheduler scaled to the run: {} warm-up steps, {} decay steps", warmup, decay);
    }
    return [=, alpha = c.decay_lr / c.peak_lr](std::int64_t n) {
      if (n < warmup) {
        const double first = 1.0 / static_cast<double>(warmup + 1);
        return n <= 0 ? first : (first - 1.0) * (1.0 - static_cast<double>(n) / static_cast<double>(warmup)) + 1.0;
      }
      const double wave =
          0.5 * (1.0 + std::cos(pi * static_cast<double>(std::min(n, decay)) / static_cast<double>(decay)));
      return (1.0 - alpha) * wave + alpha;
    };
  }
};

}  // namespace

bool follows_length(const config::SchedulerConfig& config) {
  if (std::holds_alternative<config::ConstantWithWarmupSchedulerConfig>(config)) return false;
  const auto* diffuser = std::get_if<config::DiffuserSchedulerConfig>(&config);
  return !diffuser || !diffuser->name.starts_with("constant");
}

Schedule make_schedule(const config::SchedulerConfig& config, double base_lr, std::int64_t total_steps) {
  return std::visit(Make{base_lr, total_steps}, config);
}

}  // namespace lerobot::optim
