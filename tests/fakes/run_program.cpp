#include "tests/fakes/run_program.h"

#include <sys/wait.h>

#include <cstdlib>

#include "host/base/file.h"
#include "host/base/text.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::test {

ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables) {
  const TemporaryDirectory directory;
  const std::string out = (directory.path() / "out").string();
  const std::string err = (directory.path() / "err").string();
  std::string command = "exec env";
  for (const auto& [name, value] : variables) command += " " + shell_quote(name + "=" + value);
  command += " " + shell_quote(program);
  for (const std::string& argument : arguments) command += " " + shell_quote(argument);
  const int status = std::system((command + " >" + out + " 2>" + err + " </dev/null").c_str());
  ProgramResult result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_text(out, ErrorKind::kIo);
  result.err = read_text(err, ErrorKind::kIo);
  return result;
}

}  // namespace lerobot::test
