#include "host/report/metrics.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "host/base/log.h"
#include "host/report/metrics_log.h"
#include "host/report/progress_bar.h"

namespace lerobot::report {
namespace {

TEST(Metrics, LineIsThePythonTrainersLine) {
  // The line that LeRobot 0.6.2 printed for these values (batch 2, 33 frames in 11 episodes).
  Metrics metrics({.samples_per_step = 2, .num_frames = 33, .num_episodes = 3}, 0);
  metrics.count_step();
  metrics.count_step();
  metrics.add("loss", 12.2514);
  metrics.add("grad_norm", 121.898);
  metrics.add("lr", 1e-5);
  metrics.add("dataloading_s", 0.027);
  metrics.add("update_s", 1.815);
  metrics.add("step_s", 1.843);
  metrics.add("l1_loss", 0.973);
  metrics.add("kld_loss", 1.128);
  metrics.add_detail("forward_s", 1.0);
  metrics.finish_window();
  EXPECT_EQ(metrics.line(),
            "step:2 smpl:4 ep:0 epch:0.12 loss:12.251 grdn:121.898 lr:1.0e-05 data_s:0.027 prep_s:0.000 updt_s:1.815 "
            "step_s:1.843 smp/s:1 l1_loss:0.973 kld_loss:1.128");
  EXPECT_EQ(metrics.record().at("forward_s").as_double(), 1.0);
}

TEST(Metrics, AveragesOverTheWindowAndStartsAnew) {
  Metrics metrics({.samples_per_step = 8, .num_frames = 100, .num_episodes = 2}, 10);
  metrics.add("loss", 1);
  metrics.add("loss", 2);
  EXPECT_EQ(metrics.average("loss"), 1.5);
  metrics.start_window();
  EXPECT_EQ(metrics.average("loss"), 0.0);
  metrics.add("loss", 5);
  EXPECT_EQ(metrics.average("loss"), 5);
  EXPECT_EQ(metrics.samples(), 80);
  EXPECT_DOUBLE_EQ(metrics.epochs(), 0.8);
}

TEST(Metrics, BigNumbersAreShortened) {
  EXPECT_EQ(format_big_number(4), "4");
  EXPECT_EQ(format_big_number(0.36), "0");
  EXPECT_EQ(format_big_number(999), "999");
  EXPECT_EQ(format_big_number(1500), "2K");
  EXPECT_EQ(format_big_number(51588994), "52M");
}

TEST(MetricsLog, RecordsOfAnotherGroupHaveItsNameInTheirTag) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "metrics_log_group";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  MetricsLog log(directory, 0);
  log.write({{"step", 4}, {"eval_loss", 0.5}}, "eval");
  std::string events;
  for (const auto& entry : std::filesystem::directory_iterator(directory / "tensorboard")) {
    std::ifstream in(entry.path(), std::ios::binary);
    events.assign(std::istreambuf_iterator<char>(in), {});
  }
  EXPECT_NE(events.find("eval/eval_loss"), std::string::npos);
}

TEST(MetricsLog, ResumeKeepsEachStepOnce) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "metrics_log_resume";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  {
    MetricsLog log(directory, 0);
    for (int step : {1, 2, 3, 4}) log.write({{"step", step}, {"loss", 1.0}});
  }
  std::ofstream(directory / "metrics.jsonl", std::ios::app) << "{\"step\":5,\"lo";  // a kill in the middle of a line
  {
    MetricsLog log(directory, 2);
    for (int step : {3, 4}) log.write({{"step", step}, {"loss", 2.0}});
  }
  std::ifstream in(directory / "metrics.jsonl");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(
      text,
      "{\"step\":1,\"loss\":1.0}\n{\"step\":2,\"loss\":1.0}\n{\"step\":3,\"loss\":2.0}\n{\"step\":4,\"loss\":2.0}\n");
}

TEST(MetricsLog, ResumeWithoutTheOldRecordsWarnsAndBeginsNewOnes) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "metrics_log_lost";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto warned = [&](std::int64_t start) {
    ::testing::internal::CaptureStderr();
    MetricsLog log(directory, start);
    log.write({{"step", start + 1}});
    log::flush();
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(warned(2).find("metrics.jsonl: no such file: the records of the steps up to 2"), std::string::npos);
  EXPECT_EQ(warned(3), "");
  std::ifstream in(directory / "metrics.jsonl");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, "{\"step\":3}\n{\"step\":4}\n");
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  EXPECT_EQ(warned(0), "") << "of a new run";
}

TEST(ProgressBar, OneInsideAnotherLeavesItsLineAndTheHookToTheOuterOne) {
  int terminal = -1, other_end = -1;
  ASSERT_EQ(::openpty(&terminal, &other_end, nullptr, nullptr, nullptr), 0);
  const int standard_error = ::dup(STDERR_FILENO);
  ::dup2(other_end, STDERR_FILENO);
  {
    ProgressBar outer("Training", "step", 2);
    { const ProgressBar inner("Evaluating", "batch", 3); }
    log::info("a line after the inner bar");
    log::flush();
  }
  ::dup2(standard_error, STDERR_FILENO);
  for (const int file : {standard_error, other_end}) ::close(file);
  std::string shown;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::read(terminal, part.data(), part.size())) > 0;)
    shown.append(part.data(), static_cast<std::size_t>(count));
  ::close(terminal);
  const std::size_t inner = shown.find("Evaluating:   0%");
  const std::size_t line = shown.find("a line after");
  ASSERT_NE(inner, std::string::npos) << shown;
  ASSERT_NE(line, std::string::npos) << shown;
  EXPECT_LT(shown.find("Training:   0%"), inner);
  EXPECT_EQ(shown.substr(inner, line - inner).find('\n'), std::string::npos) << "the inner bar stayed: " << shown;
  // Once after the line, once at its end.
  const std::size_t again = shown.find("Training:   0%", line);
  ASSERT_NE(again, std::string::npos) << shown;
  EXPECT_NE(shown.find("Training:   0%", again + 1), std::string::npos) << "the outer bar is gone: " << shown;
}

TEST(ProgressBar, TextTellsShareTimeAndRate) {
  EXPECT_EQ(progress_text("Training", "step", 5, 10, 2.0),
            "Training:  50%|##########          | 5/10 [00:02<00:02, 2.50step/s]");
  EXPECT_EQ(progress_text("Training", "step", 0, 7200, 0.0),
            "Training:   0%|                    | 0/7200 [00:00<?, 0.00step/s]");
}

}  // namespace
}  // namespace lerobot::report
