#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/field.h"

namespace lerobot::config {

/// One flag of the command line, as the table has it.
struct Flag {
  std::string name;           ///< dotted, without dashes
  std::string type;           ///< "int", "[int]|null", or the valid words
  std::string default_value;  ///< as one would type it
  std::string help;
  Support support = Support::kEffective;
  std::string group;   ///< the section it stands in: "", "dataset", "accelerator.fsdp", ...
  std::string choice;  ///< the type of policy, optimizer or scheduler that has it; empty: always there
  bool is_host = false;
};

/// Every flag of lerobot-train: this program's own, then LeRobot's in the order of train_config.json. A name that
/// several choices have stands once for each.
const std::vector<Flag>& train_flags();

/// Flags that take a whole section: --policy='{type: act}'.
bool is_section_flag(std::string_view name);

/// Whether the flag exists, for any choice.
bool is_known_flag(std::string_view name);

/// The flag that was probably meant.
std::optional<std::string> nearest_flag(std::string_view name);

/// Why a flag of LeRobot is refused whatever its value, or nothing.
std::optional<std::string> refusal(std::string_view name);

/// The sections that are refused whole: their name, and what they are for.
struct RefusedSection {
  std::string name;
  std::string help;
};
const std::vector<RefusedSection>& refused_sections();

/// Names of the choices ("act", ...) for "policy", "optimizer" and "scheduler", and those LeRobot has and we do not.
struct ChoiceTypes {
  std::string name;
  std::vector<std::string> supported;
  std::string only_read;  ///< a type that files may have and that cannot be trained yet
  std::vector<std::string> later;
};
const std::vector<ChoiceTypes>& choice_types();

}  // namespace lerobot::config
