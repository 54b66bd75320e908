#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lerobot::checkpoint {

/// How the processes of a run share the work.
struct Parallelism {
  std::int64_t dp_replicate = 1;
  std::int64_t dp_shard = 1;
  std::int64_t ring_degree = 1;
  std::int64_t ulysses_degree = 1;

  bool operator==(const Parallelism&) const = default;
};

/// training_step.json: where training stands, and what the sampler's position is computed from. Older files hold fewer
/// fields.
struct TrainingStep {
  std::int64_t step = 0;
  std::optional<std::int64_t> dp_world_size;
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> grad_accum_steps;
  std::optional<Parallelism> parallelism;
  // Keys of ours, which LeRobot does not read:
  std::int64_t skipped_updates = 0;                 ///< that overflowed in fp16
  std::optional<std::int64_t> schedule_steps = {};  ///< of the learning rate, where they are not the run's

  bool operator==(const TrainingStep&) const = default;
};

/// Throws Error(kCheckpoint). dp_world_size is also read from its old name, num_processes.
TrainingStep read_training_step(const std::filesystem::path& path);

/// The text of the file. Fields that are not set are left out, and skipped_updates of 0.
std::string training_step_json(const TrainingStep& step);

/// Compares a checkpoint with the run that resumes it. Throws Error(kCheckpoint) when one of them shards its parameters
/// and the other does not; warns once with every other difference. What the checkpoint does not say is not compared.
void check_topology(const TrainingStep& recorded, const TrainingStep& current);

}  // namespace lerobot::checkpoint
