#include "host/optim/scheduler.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "host/base/error.h"
#include "host/optim/strict_json.h"

namespace lerobot::optim {
namespace {

std::vector<double> numbers(const boost::json::value& array) {
  std::vector<double> values;
  for (const boost::json::value& value : array.get_array()) values.push_back(value.as_double());
  return values;
}

}  // namespace

LrScheduler::LrScheduler(Optimizer& optimizer, Schedule schedule)
    : optimizer_(optimizer), schedule_(std::move(schedule)) {
  for (Group& group : optimizer_.groups()) {
    group.initial_lr = group.lr;
    base_lrs_.push_back(group.lr);
  }
  apply();
}

void LrScheduler::step() {
  ++steps_;
  apply();
}

void LrScheduler::apply() {
  const double factor = schedule_(steps_);
  last_lrs_.clear();
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) {
    last_lrs_.push_back(base_lrs_[g] * factor);
    optimizer_.groups()[g].lr = last_lrs_[g];
  }
}

boost::json::value LrScheduler::state_json() const {
  return {{"base_lrs", boost::json::array(base_lrs_.begin(), base_lrs_.end())},
          {"last_epoch", steps_},
          {"_step_count", steps_ + 1},
          {"_is_initial", false},
          {"_get_lr_called_within_step", false},
          {"_last_lr", boost::json::array(last_lrs_.begin(), last_lrs_.end())},
          {"lr_lambdas", boost::json::array(base_lrs_.size())}};
}

void LrScheduler::load(const boost::json::value& state, std::string_view source) {
  check_same_form(state, state_json(), format("{}: scheduler", source));
  const std::int64_t steps = state.at("last_epoch").as_int64();
  if (steps < 0) fail(ErrorKind::kCheckpoint, "{}: scheduler.last_epoch: found {}, needed 0 or more.", source, steps);
  base_lrs_ = numbers(state.at("base_lrs"));
  last_lrs_ = numbers(state.at("_last_lr"));
  steps_ = steps;
}

std::unique_ptr<LrScheduler> make_scheduler(const config::SchedulerConfig& config, Optimizer& optimizer,
                                            std::int64_t schedule_steps, std::int64_t run_steps) {
  Schedule schedule = make_schedule(config, optimizer.default_lr(), schedule_steps);
  if (run_steps > schedule_steps && follows_length(config)) {
    schedule = [schedule, schedule_steps](std::int64_t n) { return schedule(std::min(n, schedule_steps)); };
  }
  return std::make_unique<LrScheduler>(optimizer, std::move(schedule));
}

}  // namespace lerobot::optim
