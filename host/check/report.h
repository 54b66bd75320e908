#pragma once

#include <boost/json/object.hpp>
#include <iosfwd>

#include "host/check/runner.h"

namespace lerobot::check {

/// One line for each check, then a summary.
void print_report(std::ostream& out, const Report& report);

/// docs/conformance.md has the schema.
boost::json::object report_json(const Report& report);

/// Names, levels and purposes.
void print_checks(std::ostream& out, const std::vector<const Check*>& checks);

}  // namespace lerobot::check
