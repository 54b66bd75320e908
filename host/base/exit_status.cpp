#include "host/base/exit_status.h"

namespace lerobot {

const std::vector<ExitStatus>& exit_statuses() {
  static const std::vector<ExitStatus> statuses{
      {0, "trained to the end, and the last checkpoint is on the disk"},
      {2, "the command line: an unknown flag, a bad value"},
      {3, "a setting or a configuration file that cannot be honoured"},
      {4, "the dataset"},
      {5, "no usable device or plugin"},
      {6, "a checkpoint that cannot be read"},
      {7, "training came to a number that is not finite"},
      {8, "out of memory, on the device or the host"},
      {9, "the file system: missing, not permitted, full (the last save failed)"},
      {70, "a fault of this program"},
      {kExitRestart, "SIGTERM: stopped and saved; start again with --resume=true"},
      {130, "Ctrl-C: stopped and saved; at the start, or for the second time: ended at once"},
      {143, "SIGTERM before the trainer was loaded, or for the second time: ended at once"}};
  return statuses;
}

}  // namespace lerobot
