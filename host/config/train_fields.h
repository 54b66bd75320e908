#pragma once

#include "host/config/field.h"
#include "host/config/optim_fields.h"
#include "host/config/policy_fields.h"
#include "host/config/train_config.h"

namespace lerobot::config {

template <>
struct Fields<ImageTransform> {
  static constexpr auto list = std::tuple(effective("weight", &ImageTransform::weight, "how often it is drawn"),
                                          effective("type", &ImageTransform::type, "name of the transform"),
                                          effective("kwargs", &ImageTransform::kwargs, "its keyword arguments"));
};

template <>
struct Fields<ImageTransformsConfig> {
  using Config = ImageTransformsConfig;
  static constexpr auto list =
      std::tuple(effective("enable", &Config::enable, "random image transforms of what is trained on"),
                 effective("max_num_transforms", &Config::max_num_transforms, "how many are drawn for an image"),
                 effective("random_order", &Config::random_order, "apply them in a random order"),
                 effective("tfs", &Config::tfs, "name to {weight, type, kwargs}; replaces the six defaults"));
};

template <>
struct Fields<DatasetConfig> {
  using Config = DatasetConfig;
  static constexpr auto list = std::tuple(
      effective("repo_id", &Config::repo_id, "name of the dataset on the hub; may be left out when root is given"),
      default_only("repo_type", &Config::repo_type, "kind of repository").one_of("dataset|bucket"),
      effective("root", &Config::root, "directory of the dataset; null: below HF_LEROBOT_HOME, or from the hub"),
      effective("episodes", &Config::episodes, "only these episodes"),
      effective("exclude_episodes", &Config::exclude_episodes, "not these episodes"),
      section("image_transforms", &Config::image_transforms),
      effective("revision", &Config::revision, "branch, tag or commit on the hub; null: the version read here, v3.0"),
      effective("use_imagenet_stats", &Config::use_imagenet_stats, "normalize images with ImageNet's statistics"),
      no_op("video_backend", &Config::video_backend, "FFmpeg decodes, whatever is named")
          .one_of("torchcodec|pyav|video_reader"),
      no_op("return_uint8", &Config::return_uint8, "training always reads bytes"),
      default_only("depth_output_unit", &Config::depth_output_unit, "unit of depth images").one_of("mm|m"),
      default_only("streaming", &Config::streaming, "read from the hub while training"),
      effective("eval_split", &Config::eval_split, "share of each task's episodes, the last ones, not trained on"));
};

template <>
struct Fields<ContextParallelConfig> {
  static constexpr auto list =
      std::tuple(default_only("ring_degree", &ContextParallelConfig::ring_degree, "context parallelism"),
                 default_only("ulysses_degree", &ContextParallelConfig::ulysses_degree, "context parallelism"));
};

template <>
struct Fields<ParallelismConfig> {
  using Config = ParallelismConfig;
  static constexpr auto list = std::tuple(default_only("dp_replicate", &Config::dp_replicate, "replicas"),
                                          default_only("dp_shard", &Config::dp_shard, "shards; -1 fills the world"),
                                          section("context_parallel", &Config::context_parallel),
                                          default_only("cfg_parallel", &Config::cfg_parallel, "guidance parallelism"));
};

template <>
struct Fields<GradientAccumulationConfig> {
  static constexpr auto list =
      std::tuple(effective("steps", &GradientAccumulationConfig::steps, "batches whose gradients make one update"));
};

template <>
struct Fields<GradScalerConfig> {
  using Config = GradScalerConfig;
  static constexpr auto list = std::tuple(
      effective("init_scale", &Config::init_scale, "fp16: first loss scale, above 0"),
      effective("growth_factor", &Config::growth_factor, "fp16: the scale grows by it, above 1"),
      effective("backoff_factor", &Config::backoff_factor, "fp16: after an overflow the scale shrinks by it, below 1"),
      effective("growth_interval", &Config::growth_interval, "fp16: updates without overflow before the scale grows"));
};

template <>
struct Fields<FsdpConfig> {
  using Config = FsdpConfig;
  static constexpr auto list =
      std::tuple(default_only("reshard_after_forward", &Config::reshard_after_forward, "sharded training"),
                 default_only("wrap_modules", &Config::wrap_modules, "sharded training"),
                 default_only("min_num_params", &Config::min_num_params, "sharded training"),
                 default_only("cpu_offload", &Config::cpu_offload, "sharded training"),
                 default_only("ignored_modules", &Config::ignored_modules, "sharded training"));
};

template <>
struct Fields<DdpConfig> {
  using Config = DdpConfig;
  static constexpr auto list =
      std::tuple(default_only("find_unused_parameters", &Config::find_unused_parameters, "replicated training"),
                 default_only("gradient_as_bucket_view", &Config::gradient_as_bucket_view, "replicated training"),
                 default_only("static_graph", &Config::static_graph, "replicated training"));
};

template <>
struct Fields<CompileConfig> {
  using Config = CompileConfig;
  static constexpr auto list = std::tuple(default_only("enabled", &Config::enabled, "torch.compile"),
                                          default_only("backend", &Config::backend, "torch.compile"),
                                          default_only("mode", &Config::mode, "torch.compile"),
                                          default_only("regional", &Config::regional, "torch.compile"));
};

template <>
struct Fields<ActivationCheckpointingConfig> {
  static constexpr auto list =
      std::tuple(default_only("mode", &ActivationCheckpointingConfig::mode, "recompute activations")
                     .one_of("none=NONE|full=FULL"));
};

template <>
struct Fields<AcceleratorConfig> {
  using Config = AcceleratorConfig;
  static constexpr auto list = std::tuple(
      effective("mixed_precision", &Config::mixed_precision, "precision of the forward pass").one_of("no|bf16|fp16"),
      section("gradient_accumulation", &Config::gradient_accumulation),
      section("grad_scaler", &Config::grad_scaler).of_newer_releases(), section("fsdp", &Config::fsdp),
      section("ddp", &Config::ddp), section("compile", &Config::compile),
      section("activation_checkpointing", &Config::activation_checkpointing));
};

template <>
struct Fields<EvalConfig> {
  using Config = EvalConfig;
  static constexpr auto list =
      std::tuple(no_op("n_episodes", &Config::n_episodes, "only read with an environment"),
                 no_op("batch_size", &Config::batch_size, "only read with an environment"),
                 no_op("use_async_envs", &Config::use_async_envs, "only read with an environment"),
                 no_op("recording", &Config::recording, "only read by lerobot-eval"),
                 no_op("recording_repo_id", &Config::recording_repo_id, "only read by lerobot-eval"),
                 no_op("recording_private", &Config::recording_private, "only read by lerobot-eval"));
};

template <>
struct Fields<EmaConfig> {
  using Config = EmaConfig;
  static constexpr auto list =
      std::tuple(effective("enable", &Config::enable, "keep an average of the weights (EMA)"),
                 effective("decay", &Config::decay, "null: by the schedule; else the decay of every update"),
                 effective("update_after_step", &Config::update_after_step, "updates before the decay begins"),
                 effective("inv_gamma", &Config::inv_gamma, "decay after t updates: 1 - (1 + t / inv_gamma)^-power"),
                 effective("power", &Config::power, "see ema.inv_gamma"),
                 effective("min_decay", &Config::min_decay, "the least decay of the schedule"),
                 effective("max_decay", &Config::max_decay, "the largest decay of the schedule"),
                 no_op("use_for_eval", &Config::use_for_eval, "only read with an environment"));
};

template <>
struct Fields<WandbConfig> {
  using Config = WandbConfig;
  static constexpr auto list =
      std::tuple(default_only("enable", &Config::enable, "log to Weights & Biases"),
                 no_op("disable_artifact", &Config::disable_artifact, "only read with wandb.enable"),
                 no_op("project", &Config::project, "only read with wandb.enable"),
                 no_op("entity", &Config::entity, "only read with wandb.enable"),
                 no_op("notes", &Config::notes, "only read with wandb.enable"),
                 no_op("run_id", &Config::run_id, "only read with wandb.enable"),
                 no_op("mode", &Config::mode, "only read with wandb.enable"),
                 no_op("add_tags", &Config::add_tags, "only read with wandb.enable"));
};

template <>
struct Fields<JobConfig> {
  using Config = JobConfig;
  static constexpr auto list =
      std::tuple(default_only("target", &Config::target, "null or local: here; else a remote machine").or_off("local"),
                 no_op("image", &Config::image, "only read with a remote job.target"),
                 no_op("timeout", &Config::timeout, "only read with a remote job.target"),
                 no_op("detach", &Config::detach, "only read with a remote job.target"),
                 no_op("tags", &Config::tags, "only read with a remote job.target"));
};

template <>
struct Fields<TrainConfig> {
  using Config = TrainConfig;
  static constexpr auto list = std::tuple(
      section("dataset", &Config::dataset), absent("env", "simulation during training"),
      section("policy", &Config::policy, "the policy to train"), absent("reward_model", "reward model training"),
      effective("output_dir", &Config::output_dir,
                "directory of the run; null: outputs/train/<date>/<time>_<job_name>"),
      effective("job_name", &Config::job_name, "name of the run; null: the policy's type"),
      effective("resume", &Config::resume, "continue the run of --config_path"),
      effective("seed", &Config::seed, "seed of all random numbers; null: none"),
      no_op("cudnn_deterministic", &Config::cudnn_deterministic, "runs on the CPU are deterministic"),
      effective("num_workers", &Config::num_workers, "loader threads; 0: none"),
      effective("batch_size", &Config::batch_size, "samples in a batch"),
      effective("prefetch_factor", &Config::prefetch_factor, "batches kept ready for each worker"),
      no_op("persistent_workers", &Config::persistent_workers, "loader threads live as long as the run"),
      no_op("dataloader_multiprocessing_context", &Config::dataloader_multiprocessing_context,
            "the loader has threads, not processes")
          .one_of("spawn|fork|forkserver"),
      effective("steps", &Config::steps, "batches to train on"),
      no_op("env_eval_freq", &Config::env_eval_freq, "no environment can be given"),
      effective("log_freq", &Config::log_freq, "steps between log lines; 0: none"),
      effective("eval_steps", &Config::eval_steps,
                "steps between losses on the episodes of dataset.eval_split; 0: never"),
      effective("max_eval_samples", &Config::max_eval_samples,
                "held-out frames to look at, split evenly over tasks; 0: all"),
      effective("tolerance_s", &Config::tolerance_s, "how far a frame's time may be from the wanted one, in seconds"),
      effective("save_checkpoint", &Config::save_checkpoint, "write checkpoints"),
      effective("save_freq", &Config::save_freq, "steps between checkpoints; 0: only the last"),
      default_only("checkpoint_format", &Config::checkpoint_format, "format of checkpoints")
          .one_of("safetensors=SAFETENSORS|dcp=DCP|safetensors_dcp=SAFETENSORS_AND_DCP"),
      effective("use_policy_training_preset", &Config::use_policy_training_preset,
                "optimizer and scheduler of the policy; typed --optimizer.* and --scheduler.* go over it"),
      section("optimizer", &Config::optimizer, "the optimizer"),
      section("scheduler", &Config::scheduler, "the learning rate's schedule"),
      section("parallelism", &Config::parallelism), section("accelerator", &Config::accelerator),
      section("eval", &Config::eval), section("ema", &Config::ema), section("wandb", &Config::wandb),
      absent("peft", "adapter training"), section("job", &Config::job),
      default_only("save_checkpoint_to_hub", &Config::save_checkpoint_to_hub, "upload each checkpoint"),
      absent("sample_weighting", "weighted samples"),
      effective("rename_map", &Config::rename_map, "dataset key to policy key; needs pretrained weights"),
      stored("checkpoint_path", &Config::checkpoint_path, "the checkpoint that was resumed"),
      effective("tf32", &Config::tf32, "TF32 matrix products on devices that have them; null: leave")
          .of_newer_releases());
};

template <>
struct Fields<HostOptions> {
  using Config = HostOptions;
  static constexpr auto list = std::tuple(
      effective("plugins", &Config::plugin_directories, "directories of plugins, with `:` between them"),
      effective("plugin", &Config::plugin, "id of the only plugin to use"),
      effective("torch_dir", &Config::torch_directory, "directory of libtorch, for plugins that bring none"),
      effective("log_level", &Config::log_level, "least severe lines to show").one_of("debug|info|warning|error"),
      effective("frame_cache_mb", &Config::frame_cache_mb, "memory for decoded frames, in MB; 0: none"),
      effective("num_threads", &Config::num_threads, "compute threads; 0: torch's own choice"),
      effective(
          "kernels", &Config::kernels,
          "fast: own kernels, on the CPU in float32; reference: torch's, with Python's random numbers; auto: fast "
          "where it can be")
          .one_of("auto|fast|reference"),
      effective("keep_last_checkpoints", &Config::keep_last_checkpoints,
                "once one is on the disk, remove all but the newest N checkpoints saved with this flag; 0: keep all"),
      effective("schedule_steps", &Config::schedule_steps,
                "length of the learning rate's schedule; 0: that of the run that is resumed, else --steps"),
      effective("max_skipped_updates", &Config::max_skipped_updates,
                "fp16: stop after so many updates in a row that overflowed; 0: never"),
      effective("min_loss_scale", &Config::min_loss_scale,
                "fp16: stop when an overflow takes the loss scale below it; 0: never"));
};

}  // namespace lerobot::config
