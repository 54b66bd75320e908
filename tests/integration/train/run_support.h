#pragma once

#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lerobot::test {

/// The program of the build tree.
std::string train_program();
/// tests/data/NAME
std::filesystem::path test_data(const std::string& name);

/// Flags of a small ACT run on a dataset of tests/data/datasets, into `output_dir`.
std::vector<std::string> small_act(const std::string& dataset, const std::filesystem::path& output_dir,
                                   const std::vector<std::string>& more = {});

/// The flags of a recorded command line, its paths replaced by ours. Reference kernels follow Python's random numbers.
std::vector<std::string> recorded_flags(const boost::json::value& command, const std::filesystem::path& output_dir,
                                        const std::string& kernels = "reference");

/// Runs lerobot-train and expects success; the output is shown when it fails.
void train(const std::vector<std::string>& arguments);

/// Expects exit code `code` and one line that begins with "error:" and holds `parts`, at the end of the output.
void expect_error_line(const Outcome& outcome, int code, const std::vector<std::string>& parts);

/// The lines of metrics.jsonl.
std::vector<boost::json::object> metrics(const std::filesystem::path& output_dir);
/// Column of metrics.jsonl: of the lines that have it.
std::vector<double> column(const std::filesystem::path& output_dir, const std::string& name);

std::string file_content(const std::filesystem::path& path);

}  // namespace lerobot::test
