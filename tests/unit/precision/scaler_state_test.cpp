#include "host/precision/scaler_state.h"

#include <gmock/gmock.h>

#include <boost/json/object.hpp>

#include "host/base/error.h"
#include "host/base/json.h"

namespace lerobot::precision {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGood =
    R"({"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000, "_growth_tracker": 7})";

std::string refusal(std::string text) {
  try {
    read_scaler_state(json::parse(text, "state", ErrorKind::kCheckpoint, json::NonFinite::kAccept),
                      "scaler_state.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    return error.what();
  }
  return "taken";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  return text.replace(text.find(from), from.size(), to);
}

TEST(ScalerState, IsTorchsStateDict) {
  const ScalerState state = read_scaler_state(json::parse(kGood, "state", ErrorKind::kCheckpoint), "file");
  EXPECT_EQ(state.scale, 1024);
  EXPECT_EQ(state.growth_interval, 2000);
  EXPECT_EQ(state.growth_tracker, 7);
  EXPECT_EQ(json::write_line(to_json(state)),
            R"({"scale":1024.0,"growth_factor":2.0,"backoff_factor":0.5,"growth_interval":2000,"_growth_tracker":7})");
}

TEST(ScalerState, ThatNoScalerCanHaveIsRefusedByKeyAndValue) {
  EXPECT_THAT(refusal(with("1024.0", "0.0")),
              HasSubstr("scaler_state.json: scale: found 0.0, needed a number above 0"));
  EXPECT_THAT(refusal(with("1024.0", "-4.0")), HasSubstr("scale: found -4.0"));
  EXPECT_THAT(refusal(with("1024.0", "NaN")), HasSubstr("scale: found NaN"));
  EXPECT_THAT(refusal(with("1024.0", "Infinity")), HasSubstr("scale: found Infinity"));
  EXPECT_THAT(refusal(with("1024.0", "1e39")), HasSubstr("that float32 can hold"));
  EXPECT_THAT(refusal(with("1024.0", "1024")), HasSubstr("scale: found 1024, needed a number"));
  EXPECT_THAT(refusal(with("1024.0", "\"1024.0\"")), HasSubstr("scale: found \"1024.0\""));
  EXPECT_THAT(refusal(with("2.0", "1.0")), HasSubstr("growth_factor: found 1.0"));
  EXPECT_THAT(refusal(with("0.5", "1.0")), HasSubstr("backoff_factor: found 1.0"));
  EXPECT_THAT(refusal(with("2000", "0")), HasSubstr("growth_interval: found 0"));
  EXPECT_THAT(refusal(with("2000", "2000.0")), HasSubstr("growth_interval: found 2000.0, needed a whole number"));
  EXPECT_THAT(refusal(with("2000", "4294967296")), HasSubstr("growth_interval: found 4294967296"));
  EXPECT_THAT(refusal(with("7}", "-1}")), HasSubstr("_growth_tracker: found -1"));
  EXPECT_THAT(refusal(with("7}", "2000}")),
              HasSubstr("_growth_tracker: found 2000, needed a whole number from 0 to 1999"));
  EXPECT_THAT(refusal(with("\"scale\": 1024.0, ", "")), HasSubstr("scale: is missing"));
  EXPECT_THAT(refusal(with("7}", "7, \"enabled\": true}")), HasSubstr("found 6 keys, needed the 5"));
  EXPECT_THAT(refusal("[]"), HasSubstr("needed an object"));
}

}  // namespace
}  // namespace lerobot::precision
