#include "host/checkpoint/writer.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "host/base/log.h"
#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Writer : public CheckpointTest {
 protected:
  static Checkpoint at_step(std::int64_t step) {
    Checkpoint checkpoint = load(python_checkpoint());
    checkpoint.position.step = step;
    return checkpoint;
  }
  /// With the files of fp16 and of an average of the weights, whose values are the weights' doubled.
  static Checkpoint full(std::int64_t step) {
    Checkpoint checkpoint = at_step(step);
    checkpoint.position.skipped_updates = 2;
    checkpoint.scaler = boost::json::value{{"scale", 1024.0}, {"_growth_tracker", 3}};
    checkpoint.ema = EmaState{.decay = 0.5, .optimization_step = step, .shadow = {}};
    for (const auto& [name, tensor] : checkpoint.model) {
      if (name.ends_with("weight") || name.ends_with("bias")) checkpoint.ema->shadow.append(name, tensor.mul(2));
    }
    return checkpoint;
  }
  std::optional<fs::path> newest() {
    const auto found = runs::find_newest(scratch());
    return found ? std::optional(found->checkpoint) : std::nullopt;
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(scratch() / "checkpoints")) out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }
};

std::uint64_t bytes_below(const fs::path& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) out.push_back(fs::relative(entry.path(), directory));
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(Writer, WritesPythonsCheckpointBackByteForByte) {
  for (const char* step : {"000020", "000030"}) {
    const fs::path original = python_checkpoint().parent_path() / step;
    const fs::path saved = CheckpointWriter(scratch(), 30).save(load(original));
    EXPECT_EQ(saved, scratch() / "checkpoints" / step);
    EXPECT_EQ(files_below(saved), files_below(original));
    for (const std::string& file : files_below(original)) {
      EXPECT_EQ(read_text(saved / file, ErrorKind::kIo), read_text(original / file, ErrorKind::kIo)) << file;
    }
  }
}

TEST_F(Writer, WritesADiffusionSchedulersStateBackByteForByte) {
  const fs::path original = data("checkpoints/diffusion_keypoints/checkpoints/000020/training_state");
  const fs::path mixed = copy_checkpoint();
  for (const char* file : {kSchedulerFile, kParamGroupsFile, kStepFile}) {
    fs::copy_file(original / file, mixed / kTrainingState / file, fs::copy_options::overwrite_existing);
  }
  const fs::path saved = CheckpointWriter(scratch(), 20).save(load(mixed));
  for (const char* file : {kSchedulerFile, kParamGroupsFile, kStepFile}) {
    EXPECT_EQ(read_text(saved / kTrainingState / file, ErrorKind::kIo), read_text(original / file, ErrorKind::kIo));
  }
}

TEST_F(Writer, WritesTheStateOfFp16AndOfTheAverage) {
  const Checkpoint checkpoint = full(1);
  const fs::path saved = CheckpointWriter(scratch(), 30).save(checkpoint);
  EXPECT_EQ(read_text(saved / kTrainingState / kScalerFile, ErrorKind::kIo),
            "{\n    \"scale\": 1024.0,\n    \"_growth_tracker\": 3\n}");
  EXPECT_THAT(read_text(saved / kTrainingState / kStepFile, ErrorKind::kIo),
              ::testing::EndsWith("},\n    \"skipped_updates\": 2\n}"));
  const Checkpoint read = load(saved);
  EXPECT_EQ(read.position, checkpoint.position);
  EXPECT_EQ(read.scaler, checkpoint.scaler);
  ASSERT_TRUE(read.ema);
  EXPECT_EQ(read.ema->optimization_step, 1);
  ASSERT_EQ(read.ema->shadow.size(), checkpoint.ema->shadow.size());
  auto expected = checkpoint.ema->shadow.begin();
  for (const auto& [index, tensor] : read.ema->shadow) EXPECT_TRUE(tensor.equal((expected++)->second)) << index;
}

TEST_F(Writer, TheAveragesFolderIsThatOfTheModelWithOtherWeights) {
  const Checkpoint checkpoint = full(1);
  const fs::path saved = CheckpointWriter(scratch(), 30).save(checkpoint);
  const fs::path model = saved / kPretrainedModel;
  const fs::path average = saved / kPretrainedModelEma;
  EXPECT_EQ(files_below(average), files_below(model));
  for (const std::string& file : files_below(model)) {
    const bool same = read_text(model / file, ErrorKind::kIo) == read_text(average / file, ErrorKind::kIo);
    EXPECT_EQ(same, file != kModelFile) << file;
  }
  const Tensors weights = load_model(average);
  ASSERT_EQ(weights.size(), checkpoint.model.size());
  for (const auto& [name, tensor] : checkpoint.model) {
    const at::Tensor* shadow = checkpoint.ema->shadow.find(name);
    EXPECT_TRUE(weights.find(name)->equal(shadow ? *shadow : tensor)) << name;
  }
  Checkpoint other = full(2);
  other.ema->shadow.append("model.unknown", at::zeros({1}));
  EXPECT_THAT([&] { CheckpointWriter(scratch(), 30).save(other); },
              ThrowsMessage<Error>(HasSubstr("model.unknown has no parameter of that name")));
}

TEST_F(Writer, NamesStepsByTheDigitsOfTheRun) {
  EXPECT_EQ(step_name(20, 30), "000020");
  EXPECT_EQ(step_name(20, 12'345'678), "00000020");
  EXPECT_EQ(step_name(1'234'567, 1), "1234567");
  EXPECT_EQ(step_name(0, 0), "000000");
}

TEST_F(Writer, LastIsARelativeLinkToTheNewest) {
  CheckpointWriter writer(scratch(), 30);
  writer.save(at_step(1));
  EXPECT_EQ(fs::read_symlink(scratch() / "checkpoints" / "last"), "000001");
  writer.save(at_step(2));
  EXPECT_EQ(fs::read_symlink(scratch() / "checkpoints" / "last"), "000002");
  EXPECT_THAT(names(), ::testing::ElementsAre("000001", "000002", "last"));
  EXPECT_EQ(load(scratch() / "checkpoints" / "last").position.step, 2);
}

TEST_F(Writer, WhereLinksAreImpossibleAPointerFileStandsForLast) {
  for (const int error : {EPERM, ENOTSUP}) {
    CheckpointWriter writer(scratch(), 30, {.reached = {}, .symlink = [error](const char*, const char*) {
                                              errno = error;
                                              return -1;
                                            }});
    writer.save(at_step(1));
    writer.save(at_step(2));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(scratch() / "checkpoints" / "last")));
    EXPECT_EQ(read_last(scratch()), scratch() / "checkpoints" / "000002");
    EXPECT_EQ(load(scratch() / "checkpoints" / "last").position.step, 2);
    EXPECT_EQ(load(scratch() / "checkpoints" / "last/").position.step, 2);
  }
  CheckpointWriter(scratch(), 30).save(at_step(3));
  EXPECT_TRUE(fs::is_symlink(scratch() / "checkpoints" / "last"));
}

TEST_F(Writer, ARealDirectoryNamedLastIsRefusedAndKept) {
  const fs::path last = scratch() / "checkpoints" / "last";
  fs::create_directories(last);
  write_durable(last / "precious", "x");
  EXPECT_THAT([&] { CheckpointWriter(scratch(), 30); },
              ThrowsMessage<Error>(AllOf(HasSubstr("last: is a real directory"), HasSubstr("not deleted"))));
  EXPECT_EQ(read_text(last / "precious", ErrorKind::kIo), "x");
  fs::remove_all(last);
  write_durable(last, "my notes");
  EXPECT_THAT([&] { CheckpointWriter(scratch(), 30); }, ThrowsMessage<Error>(HasSubstr("not made by this program")));
  fs::remove(last);
  fs::create_symlink("nowhere", last);
  CheckpointWriter(scratch(), 30).save(at_step(1));
  EXPECT_EQ(read_last(scratch()), scratch() / "checkpoints" / "000001");
}

TEST_F(Writer, SavingAStepAgainReplacesIt) {
  CheckpointWriter writer(scratch(), 30);
  writer.save(at_step(1));
  Checkpoint other = at_step(1);
  other.model = {{"w", at::full({3}, 2.0)}};
  writer.save(other);
  EXPECT_THAT(names(), ::testing::ElementsAre("000001", "last"));
  EXPECT_EQ(load(scratch() / "checkpoints/000001").model.size(), 1U);
}

TEST_F(Writer, KeepsSoManyOfTheCheckpointsThatItMarked) {
  CheckpointWriter(scratch(), 30).save(at_step(1));  // without the flag: not marked
  CheckpointWriter writer(scratch(), {.total_steps = 30, .keep_last = 2});
  for (const std::int64_t step : {2, 3, 4}) writer.save(at_step(step));
  EXPECT_THAT(names(), ::testing::ElementsAre("000001", "000003", "000004", "last"));
  // Another process of the run goes on with it; a file of the user's, and a marker that the user took away, protect.
  write_durable(scratch() / "checkpoints/000003/notes.txt", "the good one");
  fs::remove(scratch() / "checkpoints/000004/training_state" / kRemovableFile);
  CheckpointWriter again(scratch(), {.total_steps = 30, .keep_last = 1});
  for (const std::int64_t step : {5, 6}) again.save(at_step(step));
  EXPECT_THAT(names(), ::testing::ElementsAre("000001", "000003", "000004", "000006", "last"));
  // A run that goes on from an earlier step does not touch later ones.
  again.save(at_step(2));
  EXPECT_THAT(names(), ::testing::ElementsAre("000001", "000002", "000003", "000004", "000006", "last"));
  EXPECT_EQ(read_last(scratch()), scratch() / "checkpoints/000002");
}

TEST_F(Writer, LeftoversOfAnInterruptedSaveAreRemovedAndNothingElse) {
  CheckpointWriter(scratch(), 30).save(at_step(1));
  const fs::path checkpoints = scratch() / "checkpoints";
  fs::create_directories(checkpoints / ".tmp-000002" / "pretrained_model");
  fs::create_symlink("000001", checkpoints / ".tmp-last");
  fs::create_directories(checkpoints / ".old-000001");              // its successor is in place
  fs::rename(checkpoints / "000001", checkpoints / ".old-000007");  // moved aside, the successor never came
  fs::create_directories(checkpoints / "000001");
  write_durable(checkpoints / ".tmp-mine", "x");
  write_durable(checkpoints / "notes.txt", "x");
  const CheckpointWriter writer(scratch(), 30);
  EXPECT_THAT(names(), ::testing::ElementsAre(".tmp-mine", "000001", "000007", "last", "notes.txt"));
  EXPECT_EQ(newest(), checkpoints / "000007") << "`last` names one that is not complete";
}

/// Files may not grow over a limit while this lives: a full disk for whoever writes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(Writer, AFullDiskLeavesEarlierCheckpointsAndNoParts) {
  CheckpointWriter writer(scratch(), 30);
  writer.save(at_step(1));
  for (const rlim_t limit : {100, 1000, 20'000, 1'000'000, 2'000'000}) {  // each stops at another file
    const FileSizeLimit full(limit);
    try {
      writer.save(at_step(2));
      FAIL() << limit;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("step 2 was not saved"), HasSubstr("more bytes needed"), HasSubstr(" are free")));
    }
    EXPECT_THAT(names(), ::testing::ElementsAre("000001", "last"));
  }
  EXPECT_EQ(read_last(scratch()), scratch() / "checkpoints" / "000001");
  EXPECT_EQ(load(*newest()).position.step, 1);
  writer.save(at_step(2));
  EXPECT_EQ(load(*newest()).position.step, 2);
}

TEST_F(Writer, WarnsBeforeTheDiskIsFull) {
  const CheckpointWriter writer(scratch(), 30);
  const std::uint64_t bytes = size_on_disk(at_step(1));
  const std::uint64_t real = bytes_below(python_checkpoint());
  EXPECT_GE(bytes, real);
  EXPECT_LE(bytes, real + real / 10);
  EXPECT_TRUE(writer.check_room(bytes));
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(writer.check_room(std::uint64_t{1} << 62U));
  log::flush();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("needs about 4611686018427387904 bytes"));
}

TEST_F(Writer, KnowsTheSizeOfACheckpointWithAnAverage) {
  const std::uint64_t real = bytes_below(CheckpointWriter(scratch(), 30).save(full(1)));
  EXPECT_GE(size_on_disk(full(1)), real);
  EXPECT_LE(size_on_disk(full(1)), real + real / 10);
}

TEST_F(Writer, FilesHavePythonsModes) {
  ::umask(022);
  const fs::path saved = CheckpointWriter(scratch(), 30).save(full(1));
  for (const std::string& file : files_below(saved)) {
    struct stat info {};
    ASSERT_EQ(::stat((saved / file).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, file.ends_with(".safetensors") ? 0600U : 0644U) << file;
  }
}

}  // namespace
}  // namespace lerobot::checkpoint
