// A save with a fault at each of its system calls in turn (real kills: kill_test.cpp): whatever happens, a complete
// checkpoint exists, a resumed run finds it, and the next save leaves nothing behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/checkpoint/writer.h"
#include "host/config/config_file.h"
#include "tests/integration/checkpoint/failing_calls.h"
#include "tests/integration/checkpoint/marked_checkpoint.h"
#include "tests/support/scratch.h"

namespace lerobot::checkpoint {
namespace {

namespace fs = std::filesystem;
using test::Abilities;
using test::Fault;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What a save meets and what it is to do. Marks count the saves.
struct Scene {
  std::vector<std::int64_t> before;  ///< steps that are saved already
  std::int64_t step = 0;             ///< to be saved now
  Abilities able = {};
  std::int64_t keep_last = 0;
};

class Sweep : public ScratchTest {
 protected:
  // Thousands of files are flushed here, and no disk is tested.
  static void SetUpTestSuite() {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    log::init(log::Level::kError);  // warnings by the hundred
  }
  void TearDown() override { test::set_abilities({}); }

  void prepare(const Scene& scene) {
    scene_ = scene;
    test::set_abilities(scene.able);
    CheckpointWriter writer(prepared_, options());
    for (const std::int64_t step : scene.before) writer.save(checkpoint_.set(step, ++mark_));
    fs::create_directories(prepared_);
    start_again();
    CheckpointWriter counted(run_, options());
    const Checkpoint& next = checkpoint_.set(scene.step, mark_ + 1);
    test::begin_faults(Fault::kNone, 0);
    counted.save(next);
    calls_ = test::end_faults();
  }

  /// The save with a fault at each of its calls.
  void sweep(Fault fault, int error = 0) {
    ASSERT_GT(calls_, 60);
    for (std::int64_t at = 1; at <= calls_; ++at) {
      SCOPED_TRACE(format("call {} of {}", at, calls_));
      start_again();
      const bool saved = save(fault, at, error);
      expect_complete_one(saved);
      expect_next_save_cleans_up();
      if (HasFailure()) return;
    }
  }

 private:
  void start_again() {
    fs::remove_all(run_);
    fs::copy(prepared_, run_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  /// Until `last` is moved, nothing tells then whether the old checkpoint or the new one has that step's name.
  bool replaces_an_older_one() const {
    return std::count(scene_.before.begin(), scene_.before.end(), scene_.step) > 0 &&
           scene_.before.back() != scene_.step;
  }
  WriterOptions options() const { return {.total_steps = 9, .keep_last = scene_.keep_last}; }

  /// Whether it says that it worked, and that a resumed run will find it.
  bool save(Fault fault, std::int64_t at, int error) {
    CheckpointWriter writer(run_, options());
    const Checkpoint& next = checkpoint_.set(scene_.step, mark_ + 1);
    test::begin_faults(fault, at, error);
    try {
      writer.save(next);
      test::end_faults();
      return true;
    } catch (const Error& failure) {
      test::end_faults();
      EXPECT_EQ(failure.kind(), ErrorKind::kIo);
      EXPECT_THAT(failure.what(), HasSubstr(format("the checkpoint of step {} ", scene_.step)));
      if (std::string(failure.what()).find("is in its place") != std::string::npos) return !replaces_an_older_one();
      EXPECT_THAT(failure.what(), AllOf(HasSubstr("it needs about "), HasSubstr(" are free; earlier ones")));
      return false;
    }
  }

  void expect_complete_one(bool saved) const {
    if (scene_.before.empty() && !saved && runs::list_checkpoints(run_).empty()) return;
    const std::int64_t found = read_mark(*config::find_config(run_.string()).checkpoint);
    EXPECT_TRUE(found == mark_ + 1 || (found == mark_ && !saved)) << "found the checkpoint of save " << found;
    const auto last = runs::read_last(run_);
    if (last) {
      EXPECT_NO_THROW(read_mark(*last));
    }
    EXPECT_TRUE(last || scene_.before.empty()) << "`last` leads nowhere";
  }

  void expect_next_save_cleans_up() {
    CheckpointWriter writer(run_, options());
    writer.save(checkpoint_.set(9, mark_ + 2));
    EXPECT_EQ(read_mark(*config::find_config(run_.string()).checkpoint), mark_ + 2);
    std::size_t checkpoints = 0;
    for (const auto& entry : fs::directory_iterator(run_ / kCheckpoints)) {
      const std::string name = entry.path().filename().string();
      EXPECT_NE(name.front(), '.') << name << " is left";
      if (name == kLast) continue;
      EXPECT_TRUE(is_complete(entry.path())) << name;
      ++checkpoints;
    }
    if (scene_.keep_last > 0) {
      EXPECT_EQ(checkpoints, static_cast<std::size_t>(scene_.keep_last));
    }
  }

  fs::path prepared_ = scratch() / "prepared", run_ = scratch() / "run";
  Scene scene_;
  MarkedCheckpoint checkpoint_{2'000};
  std::int64_t mark_ = 0;  ///< of the last save before
  std::int64_t calls_ = 0;
};

TEST_F(Sweep, TheFirstSave) {
  prepare({.before = {}, .step = 1});
  sweep(Fault::kError, EIO);
  sweep(Fault::kDeath);
}

TEST_F(Sweep, AnotherSave) {
  prepare({.before = {1}, .step = 2});
  sweep(Fault::kError, EIO);
  sweep(Fault::kFull);
  sweep(Fault::kShort);
  sweep(Fault::kDeath);
}

TEST_F(Sweep, AStepThatIsThereAlready) {
  prepare({.before = {1, 2}, .step = 2});
  sweep(Fault::kError, EIO);
  sweep(Fault::kDeath);
}

TEST_F(Sweep, AStepThatIsThereAlreadyOnAFileSystemThatCannotExchangeNames) {
  prepare({.before = {1, 2}, .step = 2, .able = {.exchange = false}});
  sweep(Fault::kError, EIO);
  sweep(Fault::kDeath);
}

/// As after a resume from an earlier step than the highest.
TEST_F(Sweep, AStepThatIsThereAlreadyAndIsNotTheLast) {
  prepare({.before = {2, 1}, .step = 2});
  sweep(Fault::kError, EIO);
  sweep(Fault::kDeath);
}

TEST_F(Sweep, WithoutLinks) {
  prepare({.before = {1}, .step = 2, .able = {.links = false}});
  sweep(Fault::kError, EIO);
  sweep(Fault::kFull);
  sweep(Fault::kDeath);
}

TEST_F(Sweep, ThatKeepsOnlyTheNewest) {
  prepare({.before = {1, 2}, .step = 3, .able = {}, .keep_last = 1});
  sweep(Fault::kError, EIO);
  sweep(Fault::kDeath);
}

}  // namespace
}  // namespace lerobot::checkpoint
