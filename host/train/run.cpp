#include "host/train/run.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <csignal>
#include <filesystem>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/checkpoint/backbone_weights.h"
#include "host/checkpoint/loader.h"
#include "host/checkpoint/rng_state.h"
#include "host/checkpoint/writer.h"
#include "host/precision/scaler_state.h"
#include "host/precision/training_precision.h"
#include "host/train/batch.h"
#include "host/train/dataset_setup.h"
#include "host/train/held_out.h"
#include "host/train/interrupt.h"
#include "host/train/kernel_choice.h"
#include "host/train/phase_clock.h"
#include "host/train/place.h"
#include "host/train/random_state.h"
#include "host/train/run_state.h"
#include "host/train/sample_check.h"
#include "host/train/trainer.h"

namespace lerobot::train {
namespace {

namespace fs = std::filesystem;

/// The device in a configuration: index 0 goes without saying, as Python LeRobot knows mps and xpu by their type only.
std::string stored_name(const at::Device& device) {
  return device.index() > 0 ? device.str() : at::DeviceTypeName(device.type(), /*lower_case=*/true);
}

double gibibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(1U << 30U);
}

/// One training run, set up in the order in which Python draws random numbers: seed, dataset, policy, loader.
class Run {
 public:
  Run(const config::TrainCommand& command, accel::Accelerator& accelerator, const std::vector<std::string>& rejected)
      : command_(command), accelerator_(accelerator), rejected_(rejected) {
    state_.config = command.config;
    state_.device = at::Device(accelerator.torch_device());
  }

  int train() {
    const InterruptGuard interrupt({SIGTERM});
    try {
      if (!set_up()) return InterruptGuard::exit_code(InterruptGuard::signal());
      const int code = loop();
      if (code != 0) {
        log::info("To go on: lerobot-train --resume=true --config_path={}", shell_quote(*config().output_dir));
      }
      return code;
    } catch (const c10::Error& error) {
      if (is_out_of_memory(error)) stop_for_memory(error.what_without_backtrace());
      throw;
    }
  }

 private:
  /// False when a signal asked to stop: nothing was trained, and nothing was written that would be in the way of
  /// another start.
  bool set_up() {
    using Part = void (Run::*)();
    for (const Part part : {&Run::prepare, &Run::open_data, &Run::make_model, &Run::make_optimizer, &Run::resume,
                            &Run::check_room, &Run::print_banner}) {
      (this->*part)();
      if (const int signal = InterruptGuard::signal(); signal != 0) {
        log::warn("{} before the first step: there is nothing to save", InterruptGuard::name(signal));
        return false;
      }
    }
    return true;
  }

  [[noreturn]] void stop_for_memory(const std::string& reason) {
    std::string used;
    if (const auto memory = accelerator_.memory_stats(); memory && memory->total > 0) {
      used = format(", {:.2f} of {:.2f} GiB in use by tensors", gibibytes(memory->allocated), gibibytes(memory->total));
    }
    fail(ErrorKind::kMemory,
         "{} ran out of memory in {}: batch size {}, precision {}{}. Lower --batch_size (and raise "
         "--accelerator.gradient_accumulation.steps), use bf16 or fp16, or a smaller policy. Checkpoints are whole. {}",
         accelerator_.torch_device(), place_name(place_), config().batch_size, precision::precision_name(precision_),
         used, reason);
  }

  config::TrainConfig& config() { return state_.config; }
  config::PolicyConfig& policy_config() { return *config().policy; }

  /// Everything that can be refused before a file of the dataset is opened.
  void prepare() {
    precision_ = precision::usable_precision(config().accelerator.mixed_precision, accelerator_, rejected_);
    tf32_state_ = precision::set_tf32(config().tf32, accelerator_);
    kernels_ = choose_kernels(command_.host.kernels, state_.device, precision_);
    if (command_.host.num_threads > 0) at::set_num_threads(static_cast<int>(command_.host.num_threads));
    config::common(policy_config()).device = stored_name(state_.device);
    image_transforms(config().dataset.image_transforms);  // throws what is wrong with them
    if (command_.checkpoint) {
      resumed_ = checkpoint::load(*command_.checkpoint);
      start_step_ = resumed_->position.step;
      checkpoint::check_topology(resumed_->position, position(config(), start_step_));
      check_scaler_state();
    } else {
      find_initial_weights();
    }
    open_output();
    if (config().seed) {
      seed_everything(*config().seed);
      accelerator_.seed(static_cast<std::uint64_t>(*config().seed));
    }
  }

  /// What a later load() of the scaler would refuse, before long work; and flags that its state would overrule.
  void check_scaler_state() const {
    if (precision_ != accel::Precision::kFloat16 || !has_scaler_state(*resumed_)) return;
    const std::string file = scaler_file(command_.checkpoint->string());
    precision::read_scaler_state(*resumed_->scaler, file);
    if (!command_.grad_scaler_typed) return;
    fail(ErrorKind::kUsage,
         "--accelerator.grad_scaler: a resumed run goes on with the scaler that {} describes. Leave it out, or start a "
         "new run from the weights with --policy.path.",
         file);
  }

  void open_output() {
    const fs::path directory = *config().output_dir;
    std::error_code ec;
    fs::create_directories(directory, ec);
    if (ec) {
      fail(ErrorKind::kIo, "--output_dir={}: cannot be created: {}. Choose another.", directory.string(), ec.message());
    }
    writer_.emplace(directory, checkpoint::WriterOptions{.total_steps = config().steps,
                                                         .keep_last = command_.host.keep_last_checkpoints});
  }

  void find_initial_weights() {
    const auto& pretrained = config::common(policy_config()).pretrained_path;
    if (pretrained) {
      initial_model_ = checkpoint::load_model(command_.pretrained_directory.value_or(*pretrained));
    } else if (const auto* act = std::get_if<config::ActConfig>(&policy_config())) {
      backbone_file_ = checkpoint::find_backbone_file(act->pretrained_backbone_weights, act->vision_backbone);
    }
  }

  void open_data() {
    Datasets datasets = open_datasets(config(), command_.host.frame_cache_mb);
    dataset_ = std::move(datasets.train);
    held_out_dataset_ = std::move(datasets.held_out);
    fill_features(config(), dataset_->metadata());
  }

  /// Those of a fresh run: refused before the model is built when statistics are missing.
  void make_processors() {
    const data::DatasetMetadata& metadata = dataset_->metadata();
    state_.processors =
        policy::make_processors(policy_config(), training_stats(*dataset_, config()), state_.device,
                                {ErrorKind::kData, (metadata.root() / metadata.layout().stats).string()});
  }

  void make_model() {
    if (!resumed_) make_processors();
    state_.policy = policy::make_policy(policy_config(), state_.device, kernels_.kernels);
    if (resumed_) {
      load_weights(resumed_->model);
      state_.processors = read_processors(*resumed_, state_.device);
      state_.rng = resumed_->rng;
      return;
    }
    if (initial_model_) load_weights(*initial_model_);
    if (backbone_file_ && state_.policy->has_backbone()) {
      state_.policy->load_backbone(checkpoint::load_backbone_weights(*backbone_file_));
      log::info("backbone weights from {}", backbone_file_->string());
    }
    state_.rng = checkpoint::fresh_rng_state(config().seed);
  }

  void load_weights(const checkpoint::Tensors& weights) {
    const policy::LoadReport report = policy::load_state(*state_.policy, weights);
    if (!report.missing.empty()) log::warn("parameters that the checkpoint lacks: {}", join(report.missing, ", "));
    if (!report.unexpected.empty()) {
      log::warn("tensors of the checkpoint that the policy does not have: {}", join(report.unexpected, ", "));
    }
  }

  void make_optimizer() {
    std::vector<policy::ParameterGroup> groups = state_.policy->optim_groups();
    if (!config().use_policy_training_preset) {
      policy::ParameterGroup all;
      for (const auto& [name, parameter] : state_.policy->parameters()) all.parameters.emplace_back(name, parameter);
      groups = {std::move(all)};
    }
    state_.optimizer = optim::make_optimizer(*config().optimizer, std::move(groups), kernels_.kernels);
    if (config().scheduler) {
      state_.schedule_steps = schedule_length();
      state_.scheduler =
          optim::make_scheduler(*config().scheduler, *state_.optimizer, state_.schedule_steps, config().steps);
    }
    state_.scaler.emplace(accelerator_, state_.device, config().accelerator.grad_scaler,
                          precision_ == accel::Precision::kFloat16);
    if (config().ema.enable) {
      state_.ema.emplace(state_.policy->parameters(), config().ema,
                         (accelerator_.device_info().capabilities & LRA_CAP_FLOAT64) != 0);
    }
  }

  /// A resumed run keeps the schedule of the run that it continues, however long it is to go on itself.
  std::int64_t schedule_length() {
    const std::int64_t asked = command_.host.schedule_steps;
    if (asked > 0) return asked;
    const std::int64_t saved = resumed_ ? saved_schedule_length(*resumed_).value_or(config().steps) : config().steps;
    if (saved != config().steps && optim::follows_length(*config().scheduler)) {
      log::warn(
          "the learning rate's schedule keeps its length of {} steps, though --steps is {} now. --schedule_steps={} "
          "gives it another.",
          saved, config().steps, config().steps);
    }
    return saved;
  }

  void resume() {
    if (!resumed_) return;
    skipped_before_ = resumed_->position.skipped_updates;
    restore(state_, *resumed_, command_.checkpoint->string());
    // Sample-exact also when the batch size changed: the samples consumed are those of the recorded one.
    start_ = data::position_after(start_step_, dataset_->num_frames(),
                                  resumed_->position.batch_size.value_or(config().batch_size));
    resumed_.reset();
  }

  /// Adam keeps two more numbers for each parameter from the first update on; an average is written twice.
  void check_room() {
    if (!state_.config.save_checkpoint) return;
    const std::uint64_t bytes = (state_.ema ? 5 : 3) * sizeof(float);
    writer_->check_room(bytes * static_cast<std::uint64_t>(state_.policy->num_parameters()));
  }

  void print_banner() {
    const auto accumulation = config().accelerator.gradient_accumulation.steps;
    log::info("Output dir: {}", *config().output_dir);
    log::info("Device: {} ({}, plugin {}), precision: {}, {}, {}", accelerator_.torch_device(),
              accelerator_.device_info().name, accelerator_.plugin_id(), precision::precision_name(precision_),
              scaler_text(), tf32_state_);
    log::info("Kernels: {} ({})", kernels_.kernels == Kernels::kFast ? "fast" : "reference", kernels_.reason);
    log::info("cfg.steps={} ({})", config().steps, report::format_big_number(static_cast<double>(config().steps)));
    log::info("dataset.num_frames={} ({})", dataset_->num_frames(),
              report::format_big_number(static_cast<double>(dataset_->num_frames())));
    log::info("dataset.num_episodes={}", dataset_->num_episodes());
    log::info("Effective batch size: {} x 1 dp workers x {} grad accum = {} (topology: dp_replicate=1, dp_shard=1)",
              config().batch_size, accumulation, config().batch_size * accumulation);
    if (const auto transforms = image_transforms(config().dataset.image_transforms)) {
      log::info("Image transforms: {} of {}", transforms->count(), join(transforms->names(), ", "));
    }
    if (state_.ema) log::info("EMA: {}", ema_text());
    const std::int64_t parameters = state_.policy->num_parameters();
    log::info("num_learnable_params={} ({})", parameters, report::format_big_number(static_cast<double>(parameters)));
    if (start_step_ > 0) log::info("Resuming after step {} of {}", start_step_, command_.checkpoint->string());
  }

  std::string ema_text() const {
    const config::EmaConfig& ema = state_.config.ema;
    if (ema.decay) return format("decay {} of every update, from update {} on", *ema.decay, ema.update_after_step + 2);
    return format("decay {} to {} (inv_gamma {}, power {}), from update {} on", ema.min_decay, ema.max_decay,
                  ema.inv_gamma, ema.power, ema.update_after_step + 2);
  }

  std::string scaler_text() const {
    if (!state_.scaler->enabled()) return "no gradient scaler";
    return format("gradient scaler at {}", state_.scaler->current_scale().item<float>());
  }

  int loop() {
    checkpoint::BackgroundSave saver(*writer_);
    TrainStep step({.policy = *state_.policy,
                    .optimizer = *state_.optimizer,
                    .scaler = *state_.scaler,
                    .scheduler = state_.scheduler.get(),
                    .ema = state_.ema ? &*state_.ema : nullptr,
                    .accelerator = accelerator_,
                    .place = &place_,
                    .before_update = [&saver] { saver.wait_until_read(); }},
                   {.precision = precision_,
                    .accumulation_steps = config().accelerator.gradient_accumulation.steps,
                    .grad_clip_norm = optim::grad_clip_norm(*config().optimizer)});
    report::Metrics metrics({.samples_per_step = config().batch_size,
                             .num_frames = dataset_->num_frames(),
                             .num_episodes = dataset_->num_episodes()},
                            start_step_);
    report::MetricsLog metrics_log(*config().output_dir, start_step_);
    const auto loader = make_loader(dataset_, config(), start_);
    std::optional<HeldOut> held_out = make_held_out(step);
    state_.policy->set_training(true);

    LoopParts parts;
    parts.next_batch = [&] { return next_batch(*loader); };
    parts.step = &step;
    parts.optimizer = state_.optimizer.get();
    parts.scaler = &*state_.scaler;
    parts.ema = state_.ema ? &*state_.ema : nullptr;
    parts.accelerator = &accelerator_;
    parts.metrics = &metrics;
    parts.metrics_log = &metrics_log;
    if (held_out) {
      parts.held_out_loss = [&] {
        place_ = Place::kEvaluation;
        return held_out->loss();
      };
    }
    parts.examine_samples = [this](const std::vector<std::int64_t>& rows) { return examine_samples(*dataset_, rows); };
    parts.state = [this](std::int64_t at, std::int64_t skipped_updates) {
      place_ = Place::kSave;
      return to_checkpoint(state_, at, skipped_updates);
    };
    parts.saver = &saver;
    return run_loop({.steps = config().steps,
                     .log_freq = config().log_freq,
                     .eval_steps = config().eval_steps,
                     .save_freq = config().save_freq,
                     .save_checkpoint = config().save_checkpoint,
                     .watch = {.max_skipped_updates = command_.host.max_skipped_updates,
                               .min_loss_scale = command_.host.min_loss_scale,
                               .skipped_before = skipped_before_}},
                    parts, start_step_);
  }

  std::optional<HeldOut> make_held_out(TrainStep& step) {
    if (!held_out_dataset_) return std::nullopt;
    return HeldOut({.dataset = held_out_dataset_,
                    .loading = held_out_loading(*held_out_dataset_, config()),
                    .policy = state_.policy.get(),
                    .prepare = [this](const data::Batch& batch) { return prepare_batch(batch); },
                    .forward = [&step](const policy::Batch& batch) { return step.forward(batch); }});
  }

  policy::Batch prepare_batch(const data::Batch& batch) {
    return state_.processors->pre.normalize(to_tensors(batch, state_.device, config().rename_map));
  }

  TrainingBatch next_batch(data::DataLoader& loader) {
    TrainingBatch prepared;
    place_ = Place::kBatch;
    PhaseClock clock;
    data::Batch batch = loader.next();
    if (batch.starts_epoch) draw_loader_seed();
    prepared.dataloading_s = clock.lap();
    prepared.tensors = prepare_batch(batch);
    prepared.rows = std::move(batch.rows);
    prepared.preprocessing_s = clock.lap();
    return prepared;
  }

  const config::TrainCommand& command_;
  accel::Accelerator& accelerator_;
  const std::vector<std::string>& rejected_;
  accel::Precision precision_ = accel::Precision::kFloat32;
  std::string tf32_state_;
  Place place_ = Place::kStart;
  KernelChoice kernels_{};
  RunState state_;
  std::optional<checkpoint::Checkpoint> resumed_;
  std::int64_t start_step_ = 0;
  std::int64_t skipped_before_ = 0;  ///< updates that the loss scaler skipped before the run was resumed
  data::LoaderStart start_;
  std::optional<checkpoint::Tensors> initial_model_;
  std::optional<fs::path> backbone_file_;
  std::optional<checkpoint::CheckpointWriter> writer_;
  std::shared_ptr<const data::Dataset> dataset_;
  std::shared_ptr<const data::Dataset> held_out_dataset_;  ///< null without one
};

}  // namespace

int run(const config::TrainCommand& command, accel::Accelerator& accelerator,
        const std::vector<std::string>& rejected) {
  return Run(command, accelerator, rejected).train();
}

}  // namespace lerobot::train
