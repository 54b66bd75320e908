#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "host/checkpoint/background_save.h"
#include "host/config/config_file.h"
#include "tests/integration/checkpoint/marked_checkpoint.h"
#include "tests/support/scratch.h"

namespace lerobot::checkpoint {
namespace {

namespace fs = std::filesystem;

class Kill : public ScratchTest {};

/// Saves one checkpoint after the other while the one before is still on its way, for ever. Steps past 3 begin again at
/// 1: then a directory of that step is there already. A byte for each that is over.
[[noreturn]] void save_for_ever(const fs::path& output_dir, std::int64_t mark, int report) {
  CheckpointWriter writer(output_dir, 3);
  MarkedCheckpoint checkpoint(20'000);
  BackgroundSave save(writer);
  for (;; ++mark) {
    save.wait_until_read();
    const Checkpoint& next = checkpoint.set(1 + mark % 3, mark);
    if (save.in_flight()) {
      save.finish();
      if (::write(report, "s", 1) != 1) ::_exit(1);
    }
    save.begin(next);
  }
}

TEST_F(Kill, AtRandomMomentsOfARunThatSavesAllTheTime) {
  std::mt19937 random(5);
  std::int64_t mark = 1;
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) save_for_ever(scratch(), mark, ends[1]);
    ::close(ends[1]);
    char saved = 0;
    ASSERT_EQ(::read(ends[0], &saved, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);

    const std::int64_t found = read_mark(*config::find_config(scratch().string()).checkpoint);
    EXPECT_GE(found, mark) << "round " << round << ": a checkpoint that was over is lost";
    EXPECT_NO_THROW(read_mark(scratch() / "checkpoints/last")) << "round " << round;
    mark = found + 1;
  }
}

}  // namespace
}  // namespace lerobot::checkpoint
