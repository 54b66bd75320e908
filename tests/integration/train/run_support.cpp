#include "tests/integration/train/run_support.h"

#include <gmock/gmock.h>

#include <fstream>

#include "host/base/file.h"
#include "host/base/json.h"

namespace lerobot::test {

std::string train_program() {
  return LEROBOT_STAGE "/bin/lerobot-train";
}

std::filesystem::path test_data(const std::string& name) {
  return std::filesystem::path(LEROBOT_TEST_DATA) / name;
}

std::vector<std::string> small_act(const std::string& dataset, const std::filesystem::path& output_dir,
                                   const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"--dataset.repo_id=local/" + dataset,
                                     "--dataset.root=" + test_data("datasets/" + dataset).string(),
                                     "--policy.type=act",
                                     "--policy.dim_model=64",
                                     "--policy.n_heads=4",
                                     "--policy.dim_feedforward=128",
                                     "--policy.chunk_size=10",
                                     "--policy.n_action_steps=10",
                                     "--policy.pretrained_backbone_weights=null",
                                     "--policy.push_to_hub=false",
                                     "--num_workers=0",
                                     "--log_freq=1",
                                     "--env_eval_freq=0",
                                     "--output_dir=" + output_dir.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> recorded_flags(const boost::json::value& command, const std::filesystem::path& output_dir,
                                        const std::string& kernels) {
  std::vector<std::string> flags;
  const auto& words = command.as_array();
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string word(std::string_view(words[i].as_string()));
    const std::string root = "--dataset.root=";
    if (word.starts_with(root)) word = root + test_data(word.substr(root.size())).string();
    if (!word.starts_with("--output_dir=")) flags.push_back(std::move(word));
  }
  flags.push_back("--output_dir=" + output_dir.string());
  flags.push_back("--kernels=" + kernels);
  return flags;
}

void train(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_program(train_program(), arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
}

void expect_error_line(const Outcome& outcome, int code, const std::vector<std::string>& parts) {
  EXPECT_EQ(outcome.exit_code, code) << outcome.out;
  const std::size_t at = outcome.out.find("error: ");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  const std::string line = outcome.out.substr(at);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "more than one line: " << line;
  for (const std::string& part : parts) EXPECT_THAT(line, testing::HasSubstr(part));
}

std::vector<boost::json::object> metrics(const std::filesystem::path& output_dir) {
  std::vector<boost::json::object> out;
  std::ifstream in(output_dir / "metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    out.push_back(json::parse(line, "metrics.jsonl", ErrorKind::kIo).as_object());
  }
  return out;
}

std::vector<double> column(const std::filesystem::path& output_dir, const std::string& name) {
  std::vector<double> out;
  for (const auto& record : metrics(output_dir)) {
    if (const auto* value = record.if_contains(name)) out.push_back(value->to_number<double>());
  }
  return out;
}

std::string file_content(const std::filesystem::path& path) {
  return read_text(path, ErrorKind::kIo);
}

}  // namespace lerobot::test
