#pragma once

namespace c10 {
class Error;
}

namespace lerobot::train {

/// What a run is doing, for the message of one that runs out of memory.
enum class Place { kStart, kBatch, kForward, kBackward, kOptimizer, kEvaluation, kSave };

/// The place in words that follow "in".
const char* place_name(Place place);

/// Whether torch says that a device, or the host, has no memory left.
bool is_out_of_memory(const c10::Error& error);

}  // namespace lerobot::train
