#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/check/check.h"

namespace lerobot::check {

// What passes between run_checks and its children: one JSON line each way.

struct Request {
  std::string directory;
  std::optional<std::string> torch_directory;
  std::string check;
  std::string unavailable;  ///< what the probe said; empty: there is a device
  std::uint32_t devices = 0;
};

std::string write_request(const Request& request);
/// Throws Error(kInternal) on anything that write_request did not write.
Request read_request(const std::string& line);

std::string write_verdict(const Verdict& verdict);
/// Reads a child's line, trusting nothing: throws Error(kDevice) when it is no verdict.
Verdict read_verdict(const std::string& line);

}  // namespace lerobot::check
