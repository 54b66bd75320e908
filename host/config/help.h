#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace lerobot::config {

/// The help, grouped by section; the fields of a policy, optimizer or scheduler only for the type that is typed.
void print_help(const std::vector<std::string>& arguments, std::ostream& out);

/// The tables of docs/flags.md.
std::string flag_tables_markdown();

}  // namespace lerobot::config
