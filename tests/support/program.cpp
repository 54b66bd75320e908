#include "tests/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace lerobot::test {
namespace {

constexpr std::chrono::milliseconds kPoll{5};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) out.push_back(name + "=" + value);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Program::Program(const std::string& path, const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment)
    : output_path_(make_temporary_directory("program") + "/output") {
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = merged_environment(environment);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const int error =
      posix_spawn(&pid_, path.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(path + " cannot be started: " + std::strerror(error));
}

Program::~Program() {
  if (running()) {
    send(SIGKILL);
    wait();
  }
  std::filesystem::remove_all(std::filesystem::path(output_path_).parent_path());
}

void Program::send(int signal) const {
  ::kill(pid_, signal);
}

bool Program::running() {
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

std::string Program::output() const {
  std::ifstream in(output_path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool Program::wait_for_output(const std::string& text, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end) {
    const bool ended = !running();
    if (output().find(text) != std::string::npos) return true;
    if (ended) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return false;
}

Outcome Program::wait(std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (running()) {
    if (std::chrono::steady_clock::now() > end) send(SIGKILL);
    std::this_thread::sleep_for(kPoll);
  }
  return {.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), .out = output()};
}

Outcome run_program(const std::string& path, const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment) {
  return Program(path, arguments, environment).wait();
}

std::string make_temporary_directory(const std::string& name) {
  std::string pattern = (std::filesystem::temp_directory_path() / ("lerobot-" + name + "-XXXXXX")).string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error(pattern + ": cannot be created");
  return pattern;
}

}  // namespace lerobot::test
