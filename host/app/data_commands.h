#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lerobot {

/// What all commands of lerobot-data are given.
struct DataCommand {
  std::filesystem::path root;
  bool json = false;
};

/// What is in the dataset. Exit code 0.
int show_info(const DataCommand& command);

/// Whether the dataset is sound: exit code 0, or 1 when something was found. `everything`: every frame is decoded.
int check_dataset(const DataCommand& command, bool everything, double tolerance_s);

/// One frame of the dataset with its window.
struct ShowOptions {
  std::optional<std::int64_t> episode;  ///< in which `frame` counts, else in the whole dataset
  std::int64_t frame = 0;
  std::int64_t first = -2, last = 2;            ///< frames relative to it
  std::optional<std::filesystem::path> output;  ///< <name>_<frame>.png when not given
};

/// Writes the cameras' frames as one picture and prints the numbers. Exit code 0.
int show_item(const DataCommand& command, const ShowOptions& options);

}  // namespace lerobot
