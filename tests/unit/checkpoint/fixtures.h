#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "host/base/file.h"
#include "host/checkpoint/loader.h"
#include "tests/support/scratch.h"

namespace lerobot::checkpoint {

namespace fs = std::filesystem;

inline fs::path data(const std::string& name) {
  return fs::path(LEROBOT_TEST_DATA) / name;
}

/// What Python LeRobot wrote after 20 steps.
inline fs::path python_checkpoint() {
  return data("checkpoints/act_keypoints/checkpoints/000020");
}

/// A scratch folder, with copies of checkpoints to damage.
class CheckpointTest : public ScratchTest {
 protected:
  fs::path copy_checkpoint(const fs::path& from = python_checkpoint()) {
    const fs::path to = scratch() / "run" / "checkpoints" / from.filename();
    fs::create_directories(to.parent_path());
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    return to;
  }
  static void rewrite(const fs::path& file, const std::string& content) {
    fs::remove(file);
    write_durable(file, content);
  }
  static void substitute(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_text(file, ErrorKind::kIo);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file << " holds no " << from;
    rewrite(file, text.replace(at, from.size(), to));
  }
};

}  // namespace lerobot::checkpoint
