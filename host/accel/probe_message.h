#pragma once

#include <string>

#include "host/accel/probe.h"

namespace lerobot::accel {

// What passes between run_probes and its children: one JSON line each way.

std::string write_request(const ProbeRequest& request);
/// Throws Error(kInternal) on anything that write_request did not write.
ProbeRequest read_request(const std::string& line);

std::string write_result(const ProbeResult& result);
/// Reads a child's line, trusting nothing: throws Error(kDevice) when it is no result.
ProbeResult read_result(const std::string& line);

}  // namespace lerobot::accel
