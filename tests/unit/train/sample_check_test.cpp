#include "host/train/sample_check.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SampleCheck, NamesTheSamplesAndSaysThatTheirValuesAreFinite) {
  const data::TempDirectory folder;
  data::SyntheticDataset written;
  written.episodes = {{.index = 0, .length = 5}, {.index = 1, .length = 7}};
  written.write(folder.path());
  data::DatasetOptions options;
  options.root = folder.path();
  const data::Dataset dataset(options);
  EXPECT_THAT(
      examine_samples(dataset, {6, 2}),
      AllOf(HasSubstr("row 6 (episode 1, frame 1), row 2 (episode 0, frame 2)"), HasSubstr("values are finite")));
  EXPECT_THAT(examine_samples(dataset, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), HasSubstr("and 2 more"));
}

TEST(SampleCheck, NamesTheFeatureThatIsNotFinite) {
  const data::TempDirectory folder;
  data::SyntheticDataset written;
  written.episodes = {{.index = 0, .length = 12}};
  written.state = [](const data::SyntheticEpisode&, std::int64_t frame) {
    return frame == 7 ? std::numeric_limits<float>::quiet_NaN() : 0.5F;
  };
  written.write(folder.path());
  data::DatasetOptions options;
  options.root = folder.path();
  const data::Dataset dataset(options);
  EXPECT_THAT(examine_samples(dataset, {6, 7}),
              AllOf(HasSubstr("Not finite: observation.state of row 7 (episode 0, frame 7)"), HasSubstr("Correct the"),
                    Not(HasSubstr("values are finite"))));
}

}  // namespace
}  // namespace lerobot::train
