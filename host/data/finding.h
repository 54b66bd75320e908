#pragma once

#include <string>

namespace lerobot::data {

/// Something that is wrong with a dataset.
struct Finding {
  std::string file;  ///< relative to the dataset's root
  std::string text;  ///< one line, which names the file too
  bool operator==(const Finding&) const = default;
};

}  // namespace lerobot::data
