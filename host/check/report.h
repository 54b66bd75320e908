#pragma once

#include <boost/json/object.hpp>
#include <iosfwd>

#include "host/check/runner.h"

namespace lerobot::check {

/// What is checked, and on what.
void print_heading(std::ostream& out, const Report& report);

/// One line for one check.
void print_result(std::ostream& out, const Result& result);

/// How many passed, failed and were skipped.
void print_summary(std::ostream& out, const Report& report);

/// docs/conformance.md has the schema.
boost::json::object report_json(const Report& report);

/// Names, levels and purposes.
void print_checks(std::ostream& out, const std::vector<const Check*>& checks);

}  // namespace lerobot::check
