#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "host/base/error.h"
#include "host/config/load.h"

namespace lerobot::config {

using Arguments = std::vector<std::string>;

/// What every command line here needs: a dataset, a policy, and an output directory that does not exist.
inline Arguments with_basics(const Arguments& more) {
  Arguments out{"--dataset.root=data/set", "--policy.type=act", "--output_dir=/no-such-directory-here/run"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

inline TrainCommand parse(const Arguments& arguments) {
  std::ostringstream out;
  return parse_train_command(arguments, out).value();
}

inline TrainCommand parse_basics(const Arguments& more) {
  return parse(with_basics(more));
}

/// The message and the exit code of a command line that must be refused.
struct Refusal {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
};

inline Refusal refusal_of(const Arguments& arguments) {
  try {
    parse(arguments);
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

inline Refusal refusal_of_basics(const Arguments& more) {
  return refusal_of(with_basics(more));
}

/// What a call writes to stderr, where warnings go.
template <class Call>
std::string logged(Call&& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// An empty directory of its own for each test, with spaces, quotes and other letters in its name; the working
/// directory while it lives.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : before_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "my d\u00e4ta \u65e5\u672c 'x' XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
    path_ = pattern;
    std::filesystem::current_path(path_);
  }
  ~TemporaryDirectory() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path before_;
  std::filesystem::path path_;
};

inline std::filesystem::path checkpoint_directory(const std::string& run, const std::string& step = "000020") {
  return std::filesystem::path(LEROBOT_TEST_DATA) / "checkpoints" / run / "checkpoints" / step / "pretrained_model";
}

}  // namespace lerobot::config
