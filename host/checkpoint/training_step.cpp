#include "host/checkpoint/training_step.h"

#include <boost/json/value.hpp>
#include <string_view>
#include <vector>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::checkpoint {
namespace {

namespace bj = boost::json;

/// The numbers of one JSON object.
class Fields {
 public:
  Fields(const bj::value& value, std::string where) : where_(std::move(where)), object_(value.if_object()) {
    if (!object_) fail(ErrorKind::kCheckpoint, "{}: not a JSON object", where_);
  }

  std::optional<std::int64_t> number(std::string_view key, std::int64_t least) const {
    const bj::value* value = object_->if_contains(key);
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_int64() || value->get_int64() < least) {
      fail(ErrorKind::kCheckpoint, "{}: {} is {}, a whole number of at least {} is needed", where_, key,
           json::write_line(*value), least);
    }
    return value->get_int64();
  }

  const bj::value* find(std::string_view key) const { return object_->if_contains(key); }

 private:
  std::string where_;
  const bj::object* object_;
};

bool sharded(const Parallelism& parallelism) {
  return parallelism.dp_shard != 1;
}

}  // namespace

TrainingStep read_training_step(const std::filesystem::path& path) {
  const bj::value value = json::read_file(path, ErrorKind::kCheckpoint);
  const Fields fields(value, path.string());
  TrainingStep out;
  const auto step = fields.number("step", 0);
  if (!step) fail(ErrorKind::kCheckpoint, "{}: holds no \"step\"", path.string());
  out.step = *step;
  out.dp_world_size = fields.number("dp_world_size", 1);
  if (!out.dp_world_size) out.dp_world_size = fields.number("num_processes", 1);
  out.batch_size = fields.number("batch_size", 1);
  out.grad_accum_steps = fields.number("grad_accum_steps", 1);
  if (const bj::value* degrees = fields.find("parallelism"); degrees && !degrees->is_null()) {
    const Fields inner(*degrees, path.string() + ": parallelism");
    Parallelism parallelism;
    parallelism.dp_replicate = inner.number("dp_replicate", 1).value_or(1);
    parallelism.dp_shard = inner.number("dp_shard", 1).value_or(1);
    parallelism.ring_degree = inner.number("ring_degree", 1).value_or(1);
    parallelism.ulysses_degree = inner.number("ulysses_degree", 1).value_or(1);
    out.parallelism = parallelism;
  }
  out.skipped_updates = fields.number("skipped_updates", 0).value_or(0);
  out.schedule_steps = fields.number("schedule_steps", 1);
  return out;
}

std::string training_step_json(const TrainingStep& step) {
  bj::object out{{"step", step.step}};
  if (step.dp_world_size) out["dp_world_size"] = *step.dp_world_size;
  if (step.batch_size) out["batch_size"] = *step.batch_size;
  if (step.grad_accum_steps) out["grad_accum_steps"] = *step.grad_accum_steps;
  if (const auto& p = step.parallelism) {
    out["parallelism"] = bj::object{{"dp_replicate", p->dp_replicate},
                                    {"dp_shard", p->dp_shard},
                                    {"ring_degree", p->ring_degree},
                                    {"ulysses_degree", p->ulysses_degree}};
  }
  if (step.skipped_updates > 0) out["skipped_updates"] = step.skipped_updates;
  if (step.schedule_steps) out["schedule_steps"] = *step.schedule_steps;
  return json::write(out, {.indent = 4, .escape_non_ascii = false});
}

void check_topology(const TrainingStep& recorded, const TrainingStep& current) {
  std::vector<std::string> differences;
  const auto compare = [&](std::string_view name, const auto& old_value, const auto& new_value) {
    if (old_value && new_value && *old_value != *new_value) {
      differences.push_back(format("{}: {} -> {}", name, *old_value, *new_value));
    }
  };
  compare("dp_world_size", recorded.dp_world_size, current.dp_world_size);
  compare("batch_size", recorded.batch_size, current.batch_size);
  compare("grad_accum_steps", recorded.grad_accum_steps, current.grad_accum_steps);
  if (recorded.parallelism && current.parallelism) {
    const Parallelism& was = *recorded.parallelism;
    const Parallelism& is = *current.parallelism;
    if (sharded(was) != sharded(is)) {
      fail(
          ErrorKind::kCheckpoint,
          "the checkpoint was saved by {} training (dp_shard {}, ring_degree {}, ulysses_degree {}), this run is {}: "
          "they "
          "cannot continue each other. Resume with the recorded degrees, or start from its weights with --policy.path.",
          sharded(was) ? "sharded" : "unsharded", was.dp_shard, was.ring_degree, was.ulysses_degree,
          sharded(is) ? "sharded" : "unsharded");
    }
    compare("dp_replicate", std::optional(was.dp_replicate), std::optional(is.dp_replicate));
    compare("dp_shard", std::optional(was.dp_shard), std::optional(is.dp_shard));
    compare("ring_degree", std::optional(was.ring_degree), std::optional(is.ring_degree));
    compare("ulysses_degree", std::optional(was.ulysses_degree), std::optional(is.ulysses_degree));
  }
  if (!differences.empty()) {
    log::warn("this run differs from the one that saved the checkpoint: {}", join(differences, ", "));
  }
}

}  // namespace lerobot::checkpoint
