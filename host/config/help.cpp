#include "host/config/help.h"

#include <algorithm>

#include "host/base/exit_status.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/config/command_line.h"
#include "host/config/flags.h"
#include "host/config/scalar_text.h"

namespace lerobot::config {
namespace {

constexpr std::size_t kColumn = 46;

std::string_view mark(Support support) {
  switch (support) {
    case Support::kNoOp:
      return "no effect: ";
    case Support::kDefaultOnly:
      return "only the default: ";
    default:
      return "";
  }
}

void print_flag(const Flag& flag, std::ostream& out) {
  std::string left = format("  --{} {}", flag.name, flag.type);
  if (left.size() + 2 > kColumn) {
    out << left << '\n';
    left.clear();
  }
  out << left << std::string(kColumn - left.size(), ' ') << mark(flag.support) << flag.help
      << " (default: " << (flag.default_value.empty() ? "none" : flag.default_value) << ")\n";
}

/// Whether the help shows a flag: those of a choice only when its type is typed.
bool is_in_scope(const Flag& flag, const std::vector<std::string>& arguments) {
  if (flag.choice.empty()) return true;
  const std::string section = flag.group.substr(0, flag.group.find('.'));
  return parse_string(typed_value(arguments, section + ".type").value_or("")) == flag.choice;
}

std::string group_title(const Flag& flag) {
  if (flag.is_host) return "This program";
  if (flag.group.empty()) return "Training";
  return flag.choice.empty() ? flag.group : format("{} ({})", flag.group, flag.choice);
}

/// For a cell of a markdown table.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

bool is_only_read(const Flag& flag) {
  const auto& choices = choice_types();
  return !flag.choice.empty() && std::any_of(choices.begin(), choices.end(), [&](const ChoiceTypes& choice) {
    return choice.name == flag.group && choice.only_read == flag.choice;
  });
}

void append_table(std::string& out, std::string_view title, Support support) {
  out += format("## {}\n\n| flag | values | default | note |\n| --- | --- | --- | --- |\n", title);
  for (const Flag& flag : train_flags()) {
    if (flag.support != support || flag.is_host || is_only_read(flag)) continue;
    const std::string choice = flag.choice.empty() ? "" : format(" ({})", flag.choice);
    const std::string initial = flag.default_value.empty() ? "" : format("`{}`", escaped(flag.default_value));
    out += format("| `--{}`{} | `{}` | {} | {} |\n", flag.name, choice, escaped(flag.type), initial, flag.help);
  }
  out += '\n';
}

void append_host_table(std::string& out) {
  out += "## Of this program\n\n| flag | values | default | note |\n| --- | --- | --- | --- |\n";
  for (const Flag& flag : train_flags()) {
    if (!flag.is_host) continue;
    out += format("| `--{}` | `{}` | `{}` | {} |\n", flag.name, escaped(flag.type), escaped(flag.default_value),
                  flag.help);
  }
  out += '\n';
}

void append_refused(std::string& out) {
  out += "## Refused by name\n\n| flag | note |\n| --- | --- |\n";
  for (const RefusedSection& section : refused_sections()) {
    out += format("| `--{}`, `--{}.*` | {}; null is accepted |\n", section.name, section.name, section.help);
  }
  out += "| any name with `discover_packages_path` | Python packages |\n";
  for (const ChoiceTypes& choice : choice_types()) {
    out += format("| `--{}.type` of `{}` | this program has `{}` |\n", choice.name, join(choice.later, "`, `"),
                  join(choice.supported, "`, `"));
  }
  for (const ChoiceTypes& choice : choice_types()) {
    if (choice.only_read.empty()) continue;
    std::vector<std::string> names;
    for (const Flag& flag : train_flags()) {
      if (flag.choice == choice.only_read) names.push_back(flag.name.substr(choice.name.size() + 1));
    }
    out += format("| `--{}.type={}` | its files are read and written, and training is refused. Its flags: {} |\n",
                  choice.name, choice.only_read, join(names, ", "));
  }
}

}  // namespace

void print_help(const std::vector<std::string>& arguments, std::ostream& out) {
  out << "Usage: lerobot-train --dataset.root=DIR --policy.type=act [--name=value ...]\n"
         "       lerobot-train --config_path=RUN --resume=true\n\n"
         "Trains a robot policy. Flags are LeRobot's: --name=value or --name value, the last one wins; they beat the "
         "file of\n"
         "--config_path. A whole section fits into one flag: --policy='{type: act, chunk_size: 50}'.\n"
         "--policy.type=act --help shows the policy's flags; --optimizer.type and --scheduler.type do the same.\n"
         "  -h, --help   this text\n"
         "  --version    the version\n";
  std::vector<std::string> titles;
  for (const Flag& flag : train_flags()) {
    const std::string title = group_title(flag);
    const bool is_new = std::find(titles.begin(), titles.end(), title) == titles.end();
    if (is_new && is_in_scope(flag, arguments)) titles.push_back(title);
  }
  for (const std::string& title : titles) {
    out << '\n' << title << '\n';
    for (const Flag& flag : train_flags()) {
      if (group_title(flag) == title) print_flag(flag, out);
    }
  }
  out << "\nExit codes\n";
  for (const ExitStatus& status : exit_statuses()) out << format("  {:>3}  {}\n", status.code, status.meaning);
  out << "\nRefused for now:";
  for (const RefusedSection& section : refused_sections()) out << " --" << section.name << ".*";
  out << '\n';
}

std::string flag_tables_markdown() {
  std::string out;
  append_host_table(out);
  append_table(out, "Effective", Support::kEffective);
  append_table(out, "Without effect by design", Support::kNoOp);
  append_table(out, "Accepted at the default or off value", Support::kDefaultOnly);
  append_refused(out);
  return out;
}

}  // namespace lerobot::config
