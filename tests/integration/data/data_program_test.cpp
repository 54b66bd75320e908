#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/base/file.h"
#include "host/base/json.h"
#include "host/data/image_decoder.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const fs::path kDatasets = LEROBOT_TEST_DATA "/datasets";

Outcome data_program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& more = {}) {
  return test::run_program(LEROBOT_STAGE "/bin/lerobot-data", arguments, more);
}

boost::json::object json_of(const Outcome& outcome) {
  return json::parse(outcome.out, "output", ErrorKind::kIo).as_object();
}

std::string root(const std::string& name) {
  return (kDatasets / name).string();
}

class DataProgram : public ScratchTest {
 protected:
  /// A copy to break.
  fs::path copy(const std::string& name) {
    fs::copy(kDatasets / name, scratch() / name, fs::copy_options::recursive);
    return scratch() / name;
  }
};

TEST_F(DataProgram, TellsWhatIsInADataset) {
  const Outcome outcome = data_program({"info", root("pusht_image")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("v3.0"), HasSubstr("3, of "), HasSubstr("204 (20.4 s)"),
                                 HasSubstr("observation.image: 96x96, 3 channels, images in the data files"),
                                 HasSubstr("action: float32 (2) motor_0, motor_1"), HasSubstr("mean")));
  EXPECT_THAT(data_program({"info", root("aloha_sim")}).out,
              HasSubstr("observation.images.top: 640x480, 3 channels, av1 video in 2 files"));
}

TEST_F(DataProgram, TellsItToPrograms) {
  const boost::json::object info = json_of(data_program({"info", "--json", root("pusht_sim_h264")}));
  EXPECT_EQ(info.at("schema").as_int64(), 1);
  EXPECT_EQ(info.at("episodes").to_number<int>(), 4);
  EXPECT_EQ(info.at("frames").to_number<int>(), 508);
  EXPECT_EQ(info.at("fps").to_number<double>(), 10);
  const auto& camera = info.at("cameras").as_object().at("observation.image").as_object();
  EXPECT_EQ(camera.at("video").as_object().at("codec").as_string(), "h264");
  EXPECT_EQ(camera.at("video").as_object().at("files").to_number<int>(), 2);
  EXPECT_EQ(info.at("features").as_object().at("action").as_object().at("names").as_array().size(), 2U);
  EXPECT_EQ(info.at("stats").as_object().at("action").as_object().at("mean").as_array().size(), 2U);
  EXPECT_EQ(info.at("tasks").as_array().size(), 1U);
  EXPECT_GT(info.at("sizes").as_object().at("videos").as_object().at("bytes").to_number<int>(), 10000);
}

TEST_F(DataProgram, FindsADatasetByItsName) {
  fs::create_directories(scratch() / "org");
  fs::create_directory_symlink(kDatasets / "pusht_keypoints", scratch() / "org/name");
  const Outcome outcome = data_program({"info", "org/name"}, {{"HF_LEROBOT_HOME", scratch().string()}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("1270"));
  const Outcome missing =
      data_program({"info", "org/other"}, {{"HF_LEROBOT_HOME", scratch().string()}, {"HF_HUB_OFFLINE", "1"}});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.out, AllOf(HasSubstr("DATASET=org/other"), HasSubstr("HF_HUB_OFFLINE")));
  const Outcome no_name = data_program({"check", "not/a/name"});
  EXPECT_EQ(no_name.exit_code, 4);
  EXPECT_THAT(no_name.out, HasSubstr("no dataset at not/a/name"));
}

TEST_F(DataProgram, SaysThatSoundDatasetsAreSound) {
  for (const char* name :
       {"pusht_keypoints", "pusht_sim", "pusht_sim_h264", "pusht_image", "aloha_sim", "pusht_sim_v21"}) {
    const Outcome outcome = data_program({"check", root(name)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr(": sound (")) << name;
  }
}

TEST_F(DataProgram, ListsWhatItFindsByFileAndEndsWithOne) {
  const fs::path broken = copy("pusht_sim_h264");
  fs::remove(broken / "videos/observation.image/chunk-000/file-000.mp4");
  std::ofstream(broken / "data/chunk-001/file-000.parquet").close();
  const Outcome text = data_program({"check", broken.string()});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, AllOf(HasSubstr("videos/observation.image/chunk-000/file-000.mp4\n  "),
                              HasSubstr("data/chunk-001/file-000.parquet\n  "), HasSubstr("is empty (0 bytes)"),
                              HasSubstr(": 2 findings (4 episodes, 508 frames")));
  const Outcome programs = data_program({"check", broken.string(), "--json"});
  EXPECT_EQ(programs.exit_code, 1);
  const boost::json::object report = json_of(programs);
  EXPECT_FALSE(report.at("sound").as_bool());
  ASSERT_EQ(report.at("findings").as_array().size(), 2U);
  EXPECT_EQ(report.at("findings").as_array()[1].as_object().at("file").as_string(), "data/chunk-001/file-000.parquet");
}

TEST_F(DataProgram, DecodesEverythingWhenAsked) {
  const fs::path broken = copy("pusht_sim");
  const fs::path video = broken / "videos/observation.image/chunk-000/file-000.mp4";
  std::fstream stream(video, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(fs::file_size(video)) / 2);
  stream << std::string(10000, '\x5a');
  stream.close();
  EXPECT_EQ(data_program({"check", broken.string()}).exit_code, 0) << "the first frames are whole";
  const Outcome all = data_program({"check", broken.string(), "--all"});
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_THAT(all.out, HasSubstr("videos/observation.image/chunk-000/file-000.mp4\n"));
  EXPECT_THAT(data_program({"check", root("pusht_sim_h264"), "--all"}).out, HasSubstr("decoded camera frames: 508"));
}

data::Buffer decoded(const fs::path& png) {
  const std::string bytes = read_text(png, ErrorKind::kIo);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return data::decode_image({data, data + bytes.size()}, png.string());
}

TEST_F(DataProgram, ShowsAFrameWithItsNeighboursAndNumbers) {
  const fs::path png = scratch() / "strip.png";
  const Outcome outcome = data_program({"show", root("pusht_image"), "3", "--window=-1:1", "--output=" + png.string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("(episode 0, frame 3)"), HasSubstr("task: Push the T-shaped block"),
                                 HasSubstr("action: motor_0=151.124 motor_1=296.898"), HasSubstr(png.string())));
  const data::Buffer strip = decoded(png);
  EXPECT_EQ(strip.shape, (std::vector<std::int64_t>{3, 96, 3 * 96 + 2 * 4}));
  // The middle one is the frame itself.
  const fs::path alone = scratch() / "alone.png";
  ASSERT_EQ(data_program({"show", root("pusht_image"), "0:3", "--window=0:0", "--output", alone.string()}).exit_code,
            0);
  const data::Buffer frame = decoded(alone);
  ASSERT_EQ(frame.shape, (std::vector<std::int64_t>{3, 96, 96}));
  const auto* wide = data::elements_of<std::uint8_t>(strip);
  const auto* own = data::elements_of<std::uint8_t>(frame);
  for (std::int64_t line = 0; line < 3 * 96; ++line) {
    ASSERT_TRUE(std::equal(own + line * 96, own + line * 96 + 96, wide + line * 296 + 100)) << line;
  }
}

TEST_F(DataProgram, DrawsFramesBeyondTheEpisodeHalfAsBright) {
  const fs::path png = scratch() / "strip.png";
  ASSERT_EQ(data_program({"show", root("pusht_image"), "0", "--window=-1:0", "--output=" + png.string()}).exit_code, 0);
  const data::Buffer strip = decoded(png);
  const auto* pixels = data::elements_of<std::uint8_t>(strip);
  for (std::int64_t x = 0; x < 96; ++x) EXPECT_EQ(pixels[x], pixels[x + 100] / 2);
}

TEST_F(DataProgram, ShowsDatasetsWithoutCamerasAndTellsPrograms) {
  const boost::json::object item = json_of(data_program({"show", root("pusht_keypoints"), "11:2", "--json"}));
  EXPECT_TRUE(item.at("picture").is_null());
  EXPECT_EQ(item.at("episode").as_int64(), 11);
  EXPECT_EQ(item.at("frame").as_int64(), 2);
  EXPECT_EQ(item.at("numbers").as_object().at("observation.environment_state").as_array().size(), 16U);
}

TEST_F(DataProgram, RefusesCommandLinesThatMakeNoSense) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{}, "a command is needed: info, check, show"},
      {{"chek", "x"}, "chek: unknown command, did you mean check?"},
      {{"check"}, "check: 0 words after it, needed a dataset"},
      {{"show", root("pusht_sim")}, "needed a dataset and a frame"},
      {{"show", root("pusht_sim"), "x"}, "FRAME: found x"},
      {{"show", root("pusht_sim"), "1270"}, "the dataset has 1270 frames"},
      {{"show", root("pusht_sim"), "1:999"}, "episode 1 has"},
      {{"show", root("pusht_sim"), "77:0"}, "episode 77: the dataset does not have it"},
      {{"show", root("pusht_sim"), "0", "--window=1:2"}, "needed A:B with 0 in it"},
      {{"show", root("pusht_sim"), "0", "--window=1"}, "--window: found "},
      {{"info", root("pusht_sim"), "--all"}, "--all: not an option of info"},
      {{"info", root("pusht_sim"), "--jsn"}, "--jsn: unknown option, did you mean --json?"},
      {{"check", root("pusht_sim"), "--tolerance_s=much"}, "--tolerance_s: found much"}};
  for (const auto& [arguments, text] : refused) {
    const Outcome outcome = data_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("error: "), HasSubstr(text)));
  }
  const Outcome help = data_program({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("lerobot-data check"), HasSubstr("--window=A:B"), Not(HasSubstr("error"))));
}

}  // namespace
}  // namespace lerobot
