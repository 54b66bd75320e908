#include "host/config/load.h"

#include <cmath>
#include <ostream>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/config/command_line.h"
#include "host/config/config_file.h"
#include "host/config/decode.h"
#include "host/config/help.h"
#include "host/config/policy_file.h"
#include "host/config/preset.h"
#include "host/config/resolve.h"
#include "host/config/settings.h"
#include "host/config/train_fields.h"
#include "host/config/validate.h"

namespace lerobot::config {
namespace {

/// A type given on the command line must be that of the file: the fields of another one mean nothing to it.
void refuse_other_type(const Settings& settings, const std::string& section) {
  const std::string path = section + ".type";
  const Node* typed = settings.typed.find(path);
  const Node* stored = settings.file.find(path);
  if (!typed || !stored || typed->is_null()) return;
  const std::string found = parse_string(std::get_if<Plain>(&typed->value) ? std::get<Plain>(typed->value).text : "");
  const std::string needed(std::get_if<std::string>(&stored->value) ? std::get<std::string>(stored->value) : "");
  if (found == needed || found.empty() || needed.empty()) return;
  settings.refuse(path, format("found {}, but {} has {}. Leave it out, or remove {} from the file.", found,
                               settings.file_name, needed, section));
}

/// Where a policy lies, if it is a name on the hub and not a directory here.
std::optional<std::filesystem::path> on_hub(const std::string& path, const Node* revision, const HubNames& hub) {
  std::optional<std::string> wanted;
  if (revision) Decoder("policy", Strictness::kStrict).read(*revision, "policy.pretrained_revision", wanted);
  if (hub.policy && is_hub_name(path)) return hub.policy(path, wanted.value_or(""));
  if (wanted) log::warn("policy.pretrained_revision: found {}, not looked at: the policy is a directory", *wanted);
  return std::nullopt;
}

/// What --policy.path says.
struct PolicySource {
  std::string path;
  std::optional<std::filesystem::path> directory;  ///< of a name on the hub
};

/// The policy of --policy.path (or of the key `path` in the file's policy), with the flags over it.
std::optional<PolicySource> take_policy_path(const CommandLine& line, Settings& settings, const HubNames& hub) {
  std::optional<std::string> path = line.policy_path;
  if (path && settings.typed.find("policy.type")) {
    fail(ErrorKind::kUsage,
         "--policy.type: found beside --policy.path, which has a type already. Leave one of them out.");
  }
  Node overrides = empty_map(Node::Origin::kTyped);
  if (!path) {
    const Node* in_file = settings.merged.find("policy.path");
    if (!in_file) return std::nullopt;
    Decoder(settings.file_name, settings.strictness).read(*in_file, "policy.path", path.emplace());
    overrides = *settings.merged.find("policy");
    overrides.erase("path");
    if (!settings.typed.find("policy.type")) overrides.erase("type");
  } else if (const Node* typed = settings.typed.find("policy"); typed && typed->map()) {
    overrides = *typed;
  }
  const auto directory = on_hub(*path, overrides.find("pretrained_revision"), hub);
  const auto file = find_policy_file(directory ? directory->string() : *path);
  settings.policy_file_name = file.string();
  Node policy = read_policy_node(file);
  merge(policy, overrides);
  settings.merged.put("policy", std::move(policy));
  return PolicySource{*path, directory};
}

/// A value that decides how the others are read.
bool read_bool(const Settings& settings, const std::string& path, bool initial) {
  const Node* node = settings.merged.find(path);
  if (node) Decoder(settings.file_name, settings.strictness).read(*node, path, initial);
  return initial;
}

void read_policy(const Settings& settings, const std::string& path, TrainConfig& config) {
  Decoder decoder(settings.policy_file_name, Strictness::kLenient);
  decoder.read(*settings.merged.find("policy"), "policy", config.policy);
  decoder.warn_about_rest();
  common(*config.policy).pretrained_path = path;
}

TrainConfig read_config_tree(const Settings& settings, const std::optional<PolicySource>& policy, bool uses_preset) {
  Node tree = settings.merged;
  if (uses_preset) {
    tree.erase("optimizer");
    tree.erase("scheduler");
  }
  if (policy) tree.erase("policy");
  TrainConfig config;
  Decoder decoder(settings.file_name, settings.strictness);
  decoder.read(tree, "", config);
  decoder.warn_about_rest();
  if (policy) read_policy(settings, policy->path, config);
  return config;
}

/// The checkpoint that a resumed run starts from.
std::filesystem::path checkpoint_to_resume(const CommandLine& line, const std::optional<ConfigPath>& found) {
  if (line.policy_path) {
    fail(ErrorKind::kUsage,
         "--policy.path: found beside --resume=true, which takes the policy of its checkpoint. Leave one out.");
  }
  if (!found) {
    fail(ErrorKind::kUsage,
         "--resume: found true without --config_path. Add --config_path=RUN, the directory of the run.");
  }
  if (!found->checkpoint) {
    fail(ErrorKind::kConfig,
         "--config_path={}: found no checkpoint there, needed one to resume: a run's directory, checkpoints/last, "
         "checkpoints/<step>, or its pretrained_model.",
         shell_quote(*line.config_path));
  }
  return *found->checkpoint;
}

Settings gather(const CommandLine& line, const std::optional<ConfigPath>& found) {
  Settings out;
  out.typed = line.settings;
  if (found) {
    out.file = read_config(found->file);
    out.file_name = found->file.string();
    out.strictness = strictness_of(found->file);
  }
  out.merged = out.file;
  merge(out.merged, out.typed);
  for (const char* section : {"policy", "optimizer", "scheduler"}) refuse_other_type(out, section);
  return out;
}

/// Limits of the loss scaler mean nothing in a run that has none.
void check_scaler_limits(const HostOptions& host, const TrainConfig& config) {
  if (config.accelerator.mixed_precision == "fp16") return;
  const HostOptions defaults;
  const auto refuse = [&](std::string_view name) {
    fail(ErrorKind::kUsage, "--{}: only read with fp16, and --accelerator.mixed_precision is {}. Leave it out.", name,
         config.accelerator.mixed_precision);
  };
  if (host.max_skipped_updates != defaults.max_skipped_updates) refuse("max_skipped_updates");
  if (host.min_loss_scale != defaults.min_loss_scale) refuse("min_loss_scale");
}

void check_schedule_length(const HostOptions& host, const TrainConfig& config) {
  if (host.schedule_steps == 0 || config.scheduler) return;
  fail(ErrorKind::kUsage,
       "--schedule_steps: found {}, and there is no schedule of the learning rate. Leave it out, or add "
       "--scheduler.type.",
       host.schedule_steps);
}

/// A run on the hub: its configuration, or the newest checkpoint when it is to be resumed, which comes into the output
/// directory that is typed, or a new one.
ConfigPath find_on_hub(CommandLine& line, const HubNames& hub) {
  const std::string& name = *line.config_path;
  const ConfigPath config{hub.train_config(name), std::nullopt};
  if (!read_bool(gather(line, config), "resume", false)) return config;
  std::optional<std::string> run;
  const Node* typed = line.settings.find("output_dir");
  if (typed) Decoder("output_dir", Strictness::kStrict).read(*typed, "output_dir", run);
  if (!run) run = dated_directory("resume");
  line.settings.put("output_dir", Node{*run, Node::Origin::kTyped});
  return find_config(hub.checkpoint(name, *run).string());
}

std::optional<ConfigPath> find(CommandLine& line, const HubNames& hub) {
  if (!line.config_path) return std::nullopt;
  if (hub.train_config && is_hub_name(*line.config_path)) return find_on_hub(line, hub);
  return find_config(*line.config_path);
}

TrainCommand build(CommandLine line, const HubNames& hub) {
  const std::optional<ConfigPath> found = find(line, hub);
  Settings settings = gather(line, found);
  const auto policy = take_policy_path(line, settings, hub);
  const bool resumes = read_bool(settings, "resume", false);
  const bool uses_preset = !resumes && read_bool(settings, "use_policy_training_preset", true);

  TrainCommand out;
  out.host = line.host;
  out.config = read_config_tree(settings, policy, uses_preset);
  fill_in(settings, out.config);
  if (policy) out.pretrained_directory = policy->directory;
  const Node* device = settings.merged.find("policy.device");
  out.device_typed = device && device->is_typed() && common(*out.config.policy).device.has_value();
  if (resumes) {
    const auto checkpoint = checkpoint_to_resume(line, found);
    refuse_optimizer_changes(settings);
    note_checkpoint(settings, checkpoint, out.config);
    out.checkpoint = std::filesystem::absolute(checkpoint).lexically_normal();
  } else {
    out.config.checkpoint_path.reset();
    choose_optimizer(settings, out.config);
    const auto& pretrained = common(*out.config.policy).pretrained_path;
    if (!policy && pretrained) {
      out.pretrained_directory = on_hub(*pretrained, settings.merged.find("policy.pretrained_revision"), hub);
    }
  }
  validate(settings, out.config);
  check_scaler_limits(out.host, out.config);
  check_schedule_length(out.host, out.config);
  out.grad_scaler_typed = settings.is_typed("accelerator.grad_scaler");
  if (!resumes) check_output_directory(settings, *out.config.output_dir);
  return out;
}

void check_host_options(const HostOptions& host) {
  const auto not_negative = [](std::string_view name, std::int64_t value) {
    if (value < 0) fail(ErrorKind::kUsage, "--{}: found {}, needed 0 or more.", name, value);
  };
  not_negative("frame_cache_mb", host.frame_cache_mb);
  not_negative("num_threads", host.num_threads);
  not_negative("keep_last_checkpoints", host.keep_last_checkpoints);
  not_negative("schedule_steps", host.schedule_steps);
  not_negative("max_skipped_updates", host.max_skipped_updates);
  if (!(host.min_loss_scale >= 0 && std::isfinite(host.min_loss_scale))) {
    fail(ErrorKind::kUsage, "--min_loss_scale: found {}, needed a finite number, 0 or more.", host.min_loss_scale);
  }
}

}  // namespace

std::optional<TrainCommand> parse_train_command(const std::vector<std::string>& arguments, std::ostream& out,
                                                const HubNames& hub) {
  if (asks_for_help(arguments)) {
    print_help(arguments, out);
    return std::nullopt;
  }
  if (asks_for_version(arguments)) {
    out << "lerobot-train " << LEROBOT_VERSION << '\n';
    return std::nullopt;
  }
  CommandLine line = read_command_line(arguments);
  check_host_options(line.host);
  return build(std::move(line), hub);
}

}  // namespace lerobot::config
