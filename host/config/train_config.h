#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/config/optim_config.h"
#include "host/config/policy_config.h"

namespace lerobot::config {

// The tree of LeRobot's TrainPipelineConfig: members in the order of train_config.json, names as its keys.

struct ImageTransform {
  double weight = 1.0;
  std::string type = "Identity";
  boost::json::object kwargs;
};

struct ImageTransformsConfig {
  bool enable = false;
  std::int64_t max_num_transforms = 3;
  bool random_order = false;
  OrderedMap<ImageTransform> tfs = default_transforms();

  static OrderedMap<ImageTransform> default_transforms();
};

struct DatasetConfig {
  std::string repo_id;
  std::string repo_type = "dataset";
  std::optional<std::string> root;
  std::optional<std::vector<std::int64_t>> episodes;
  std::optional<std::vector<std::int64_t>> exclude_episodes;
  ImageTransformsConfig image_transforms;
  std::optional<std::string> revision;
  bool use_imagenet_stats = true;
  std::string video_backend = "torchcodec";
  bool return_uint8 = false;
  std::string depth_output_unit = "mm";
  bool streaming = false;
  double eval_split = 0.0;
};

struct ContextParallelConfig {
  std::int64_t ring_degree = 1;
  std::int64_t ulysses_degree = 1;
};

struct ParallelismConfig {
  std::int64_t dp_replicate = 1;
  std::int64_t dp_shard = 1;
  ContextParallelConfig context_parallel;
  std::int64_t cfg_parallel = 1;
};

struct GradientAccumulationConfig {
  std::int64_t steps = 1;
};

/// Of newer LeRobot releases; written to train_config.json only when it differs from the default.
struct GradScalerConfig {
  double init_scale = 65536.0;
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
  bool operator==(const GradScalerConfig&) const = default;
};

struct FsdpConfig {
  bool reshard_after_forward = true;
  std::optional<std::vector<std::string>> wrap_modules;
  std::optional<std::int64_t> min_num_params;
  bool cpu_offload = false;
  std::optional<std::string> ignored_modules;
};

struct DdpConfig {
  bool find_unused_parameters = true;
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
};

struct CompileConfig {
  bool enabled = false;
  std::string backend = "inductor";
  std::optional<std::string> mode;
  bool regional = true;
};

struct ActivationCheckpointingConfig {
  std::string mode = "none";
};

struct AcceleratorConfig {
  std::string mixed_precision = "no";  // "no", "bf16", "fp16"
  GradientAccumulationConfig gradient_accumulation;
  GradScalerConfig grad_scaler;
  FsdpConfig fsdp;
  DdpConfig ddp;
  CompileConfig compile;
  ActivationCheckpointingConfig activation_checkpointing;
};

struct EvalConfig {
  std::int64_t n_episodes = 50;
  std::int64_t batch_size = 0;
  bool use_async_envs = true;
  bool recording = false;
  std::optional<std::string> recording_repo_id;
  bool recording_private = false;
};

struct EmaConfig {
  bool enable = false;
  std::optional<double> decay;
  std::int64_t update_after_step = 0;
  double inv_gamma = 1.0;
  double power = 0.75;
  double min_decay = 0.0;
  double max_decay = 0.9999;
  bool use_for_eval = true;
};

struct WandbConfig {
  bool enable = false;
  bool disable_artifact = false;
  std::string project = "lerobot";
  std::optional<std::string> entity;
  std::optional<std::string> notes;
  std::optional<std::string> run_id;
  std::optional<std::string> mode;
  bool add_tags = true;
};

struct JobConfig {
  std::optional<std::string> target;
  std::string image = "huggingface/lerobot-gpu:latest";
  std::optional<std::string> timeout = "2d";
  bool detach = false;
  std::vector<std::string> tags;
};

struct TrainConfig {
  DatasetConfig dataset;
  // env: not supported yet, always null
  std::optional<PolicyConfig> policy;
  // reward_model: not supported, always null
  std::optional<std::string> output_dir;
  std::optional<std::string> job_name;
  bool resume = false;
  std::optional<std::int64_t> seed = 1000;
  bool cudnn_deterministic = false;
  std::int64_t num_workers = 4;
  std::int64_t batch_size = 8;
  std::int64_t prefetch_factor = 4;
  bool persistent_workers = true;
  std::optional<std::string> dataloader_multiprocessing_context = "spawn";
  std::int64_t steps = 100000;
  std::int64_t env_eval_freq = 20000;
  std::int64_t log_freq = 200;
  std::int64_t eval_steps = 0;
  std::int64_t max_eval_samples = 0;
  double tolerance_s = 1e-4;
  bool save_checkpoint = true;
  std::int64_t save_freq = 20000;
  std::string checkpoint_format = "safetensors";
  bool use_policy_training_preset = true;
  std::optional<OptimizerConfig> optimizer;
  std::optional<SchedulerConfig> scheduler;
  ParallelismConfig parallelism;
  AcceleratorConfig accelerator;
  EvalConfig eval;
  EmaConfig ema;
  WandbConfig wandb;
  // peft: not supported, always null
  JobConfig job;
  bool save_checkpoint_to_hub = false;
  // sample_weighting: not supported, always null
  OrderedMap<std::string> rename_map;
  std::optional<std::string> checkpoint_path;

  /// Of newer LeRobot releases; written to train_config.json only when it differs from the default (true).
  std::optional<bool> tf32 = true;
};

/// Settings of this program that LeRobot does not have. Never written to train_config.json.
struct HostOptions {
  std::vector<std::string> plugin_directories;  // --plugins=DIR[:DIR...]
  std::optional<std::string> plugin;            // --plugin=ID
  std::optional<std::string> torch_directory;   // --torch_dir=DIR, for plugins whose torch is external
  std::string log_level = "info";               // --log_level=debug|info|warning|error
  std::int64_t frame_cache_mb = 1024;           // --frame_cache_mb=N, decoded video frames kept in memory; 0: none
  std::int64_t num_threads = 0;                 // --num_threads=N, compute threads; 0: torch's own choice
  std::string kernels = "auto";                 // --kernels=auto|fast|reference, how a step is computed
  std::int64_t max_skipped_updates = 20;        // --max_skipped_updates=N, fp16: overflows in a row; 0: no limit
  std::int64_t keep_last_checkpoints = 0;       // --keep_last_checkpoints=N, older ones of the run go; 0: all stay
  std::int64_t schedule_steps = 0;              // --schedule_steps=N, of the learning rate; 0: as saved, else --steps
  double min_loss_scale = 1.0;                  // --min_loss_scale=X, fp16: least scale after an overflow; 0: none
};

}  // namespace lerobot::config
