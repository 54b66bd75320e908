#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "host/config/optim_config.h"
#include "host/optim/optimizer.h"

namespace lerobot::optim {

/// The factor on the learning rate after n steps of the scheduler.
using Schedule = std::function<double(std::int64_t n)>;

/// The factors of a configuration. `base_lr` is the optimizer's rate and `total_steps` the run's length; some schedules
/// depend on them. Throws Error(kConfig) for a schedule that Python LeRobot cannot build either.
Schedule make_schedule(const config::SchedulerConfig& config, double base_lr, std::int64_t total_steps);

/// Whether the factors depend on the run's length.
bool follows_length(const config::SchedulerConfig& config);

/// Multiplies each group's initial rate by a schedule (torch.optim.lr_scheduler.LambdaLR).
class LrScheduler {
 public:
  /// Sets the rates of the first update. The optimizer must outlive the scheduler.
  LrScheduler(Optimizer& optimizer, Schedule schedule);

  /// Once after every update.
  void step();

  /// scheduler_state.json: keys, order and types of torch 2.11.
  boost::json::value state_json() const;
  /// Takes over a saved state, as strictly as Python. The optimizer's rates are those of its own saved state. `source`
  /// names the checkpoint in messages. Throws Error(kCheckpoint) before anything is changed.
  void load(const boost::json::value& state, std::string_view source);

 private:
  void apply();

  Optimizer& optimizer_;
  Schedule schedule_;
  std::vector<double> base_lrs_, last_lrs_;  // of each group
  std::int64_t steps_ = 0;
};

/// A schedule of so many steps. Past them, in a run that is longer, the rate stays where it ended: a cosine would rise
/// again.
std::unique_ptr<LrScheduler> make_scheduler(const config::SchedulerConfig& config, Optimizer& optimizer,
                                            std::int64_t schedule_steps, std::int64_t run_steps = 0);

}  // namespace lerobot::optim
