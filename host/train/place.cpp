#include "host/train/place.h"

#include <c10/util/Exception.h>

#include <string_view>

namespace lerobot::train {

const char* place_name(Place place) {
  switch (place) {
    case Place::kStart:
      return "the start of the run";
    case Place::kBatch:
      return "the preparation of a batch";
    case Place::kForward:
      return "the forward pass";
    case Place::kBackward:
      return "the backward pass";
    case Place::kOptimizer:
      return "the optimizer";
    case Place::kEvaluation:
      return "the evaluation";
    case Place::kSave:
      return "a save";
  }
  return "the run";
}

bool is_out_of_memory(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  // Torch's allocator for the CPU throws no error of its own kind.
  return std::string_view(error.what_without_backtrace()).find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace lerobot::train
