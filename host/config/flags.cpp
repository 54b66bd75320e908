#include "host/config/flags.h"

#include <algorithm>

#include "host/base/json.h"
#include "host/base/text.h"
#include "host/config/encode.h"
#include "host/config/node.h"
#include "host/config/train_fields.h"
#include "host/config/type_text.h"

namespace lerobot::config {
namespace {

std::string default_text(const bj::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_double()) return json::float_repr(value.get_double());
  return json::write_line(value);
}

/// Walks the table and keeps what it finds.
struct Collector {
  std::vector<Flag> flags;
  std::vector<RefusedSection> refused;
  std::vector<ChoiceTypes> choices;
  bool is_host = false;

  template <Described T>
  void fields(const std::string& group, const std::string& choice) {
    const T defaults{};
    for_each_field<T>([&](const auto& field) { visit(field, defaults, group, choice); });
  }

  template <class Owner, class Member, class T>
  void visit(const Field<Owner, Member>& field, const T& defaults, const std::string& group,
             const std::string& choice) {
    if (field.support == Support::kStored) return;
    const std::string name = join_path(group, field.name);
    if constexpr (Described<Member>) {
      fields<Member>(name, choice);
    } else {
      leaf(field, defaults.*field.member, name, group, choice);
    }
  }
  template <class T>
  void visit(const AbsentField& field, const T&, const std::string&, const std::string&) {
    refused.push_back({std::string(field.name), std::string(field.help)});
  }

  template <class F, class... T>
  void leaf(const F&, const std::optional<std::variant<T...>>&, const std::string& name, const std::string&,
            const std::string&) {
    using Variant = std::variant<T...>;
    ChoiceTypes types{
        name, offered_types(static_cast<const Variant*>(nullptr)), std::string(Choice<Variant>::only_read), {}};
    types.later.assign(Choice<Variant>::later.begin(), Choice<Variant>::later.end());
    flags.push_back(
        {name + ".type", join(types.supported, "|"), "null", "which one", Support::kEffective, name, "", false});
    choices.push_back(std::move(types));
    (fields<T>(name, std::string(T::kType)), ...);
  }
  template <class F, class Member>
  void leaf(const F& field, const Member& initial, const std::string& name, const std::string& group,
            const std::string& choice) {
    const std::string type = field.words.empty() ? TypeText<Member>::brief() : words_text(field.words);
    flags.push_back(
        {name, type, default_text(encode(initial)), std::string(field.help), field.support, group, choice, is_host});
  }

  /// "a=A|b" without the second spellings.
  static std::string words_text(std::string_view words) {
    std::string out;
    bool second = false;
    for (const char c : words) {
      if (c == '=' || c == '|') second = c == '=';
      if (!second) out += c;
    }
    return out;
  }
};

/// The default of image transforms is six mappings long: a help line cannot hold it.
void shorten(Flag& flag) {
  if (flag.name == "dataset.image_transforms.tfs") flag.default_value = "six transforms";
}

Collector collect() {
  Collector out;
  out.is_host = true;
  out.fields<HostOptions>("", "");
  out.is_host = false;
  out.flags.push_back({"config_path", "str", "null", "train_config.json, its directory, a checkpoint or a run",
                       Support::kEffective, "", "", false});
  out.fields<TrainConfig>("", "");
  Flag path{
      "policy.path",       "str",    "null", "directory of a policy to start from (config.json, model.safetensors)",
      Support::kEffective, "policy", "",     false};
  const auto type =
      std::find_if(out.flags.begin(), out.flags.end(), [](const Flag& f) { return f.name == "policy.type"; });
  out.flags.insert(type + 1, path);
  for (Flag& flag : out.flags) shorten(flag);
  return out;
}

const Collector& collected() {
  static const Collector all = collect();
  return all;
}

bool is_within(std::string_view name, std::string_view section) {
  return name == section || (name.starts_with(section) && name.substr(section.size()).starts_with('.'));
}

}  // namespace

const std::vector<Flag>& train_flags() {
  return collected().flags;
}
const std::vector<RefusedSection>& refused_sections() {
  return collected().refused;
}
const std::vector<ChoiceTypes>& choice_types() {
  return collected().choices;
}

bool is_section_flag(std::string_view name) {
  constexpr std::string_view kSections[] = {"dataset",     "policy", "optimizer", "scheduler", "parallelism",
                                            "accelerator", "eval",   "ema",       "wandb",     "job"};
  return std::find(std::begin(kSections), std::end(kSections), name) != std::end(kSections);
}

bool is_known_flag(std::string_view name) {
  const auto& flags = train_flags();
  return is_section_flag(name) ||
         std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == name; });
}

std::optional<std::string> nearest_flag(std::string_view name) {
  std::vector<std::string> names{"help", "version"};
  for (const Flag& flag : train_flags()) names.push_back(flag.name);
  std::string underscored(name);
  std::replace(underscored.begin(), underscored.end(), '-', '_');
  if (is_known_flag(underscored)) return underscored;
  if (const auto nearest = nearest_name(underscored, names)) return nearest;
  // Half a name: the last part alone, as in --chunk_size for --policy.chunk_size.
  for (const Flag& flag : train_flags()) {
    if (flag.name.ends_with("." + underscored)) return flag.name;
  }
  return std::nullopt;
}

std::optional<std::string> refusal(std::string_view name) {
  if (name.find("discover_packages_path") != std::string_view::npos) {
    return "Python packages cannot be loaded by this program. Leave it out.";
  }
  for (const RefusedSection& section : refused_sections()) {
    if (is_within(name, section.name)) return format("{} is not supported yet. Leave it out.", section.help);
  }
  return std::nullopt;
}

}  // namespace lerobot::config
