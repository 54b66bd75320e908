#pragma once

#include <sys/types.h>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace lerobot::test {

/// What a program came to.
struct Outcome {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out;     ///< standard output and standard error, in the order in which they were written
};

/// A program as its user runs it. Output is collected in a temporary file, so it never blocks.
class Program {
 public:
  /// Starts it. `environment` is added to this process's; an empty value removes the variable.
  Program(const std::string& path, const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& environment = {});
  /// Kills it if it still runs.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  pid_t pid() const { return pid_; }
  bool running();
  /// What it has written so far.
  std::string output() const;
  /// Waits until the output holds `text`; false after `limit` or when the program ended without it.
  bool wait_for_output(const std::string& text, std::chrono::seconds limit = std::chrono::seconds(60));
  /// Waits for its end. Kills it after `limit`.
  Outcome wait(std::chrono::seconds limit = std::chrono::seconds(240));

 private:
  std::string output_path_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// Starts and waits.
Outcome run_program(const std::string& path, const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment = {});

/// A new empty directory under the test's temporary directory; its name begins with `name`.
std::string make_temporary_directory(const std::string& name);

}  // namespace lerobot::test
