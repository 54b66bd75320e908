#pragma once

#include <boost/json/value.hpp>
#include <ostream>

#include "host/accel/choice.h"

namespace lerobot {

/// A table of the plugins: one line each, with devices or the reason. `verbose` adds directories, versions,
/// what precision training gets, probe times.
void print_list(std::ostream& out, const accel::Survey& survey, bool verbose);

/// How `auto` decides here, step by step: the search order, each plugin's verdict, the hardware seen, the choice.
void print_explanation(std::ostream& out, const accel::Survey& survey, const accel::SearchOptions& search);

/// The same for programs.
boost::json::value explanation_json(const accel::Survey& survey, const accel::SearchOptions& search);

}  // namespace lerobot
