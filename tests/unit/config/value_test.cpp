#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "host/base/json.h"
#include "host/config/scalar_text.h"
#include "tests/unit/config/config_test_tools.h"

namespace lerobot::config {
namespace {

using testing::HasSubstr;

std::string as_json(const std::string& text) {
  return json::write_line(to_json(parse_flow(text, "flag")));
}

TEST(Values, BooleansTakeBothSpellingsInYamlsCases) {
  for (const char* text : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}) {
    EXPECT_EQ(parse_bool(text), true) << text;
    EXPECT_TRUE(parse_basics({std::string("--save_checkpoint=") + text}).config.save_checkpoint) << text;
  }
  for (const char* text : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}) {
    EXPECT_EQ(parse_bool(text), false) << text;
    EXPECT_FALSE(parse_basics({std::string("--save_checkpoint=") + text}).config.save_checkpoint) << text;
  }
  for (const char* text : {"1", "0", "y", "n", "tRue", "", "null", "none"}) {
    const Refusal refusal = refusal_of_basics({std::string("--save_checkpoint=") + text});
    EXPECT_EQ(refusal.kind, ErrorKind::kUsage) << text;
    EXPECT_THAT(refusal.message, HasSubstr("--save_checkpoint: found")) << text;
  }
}

TEST(Values, IntegersTakeSignsUnderscoresAndHexadecimal) {
  EXPECT_EQ(parse_int("1000"), 1000);
  EXPECT_EQ(parse_int("1_000"), 1000);
  EXPECT_EQ(parse_int("0x10"), 16);
  EXPECT_EQ(parse_int("0x1_0"), 16);
  EXPECT_EQ(parse_int("0b101"), 5);
  EXPECT_EQ(parse_int("-1"), -1);
  EXPECT_EQ(parse_int("+5"), 5);
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "010", "1e3", "10.0", "1__0", "_1", "1_", "0x", "--1", "+-1", "1 ",
                           "9223372036854775808", "none", "1:30"}) {
    EXPECT_EQ(parse_int(text), std::nullopt) << text;
  }
}

TEST(Values, AnIntegerFlagRefusesFloatsBooleansAndNull) {
  for (const char* text : {"1e3", "10.0", "true", "null", "~", "", "None", "'8'"}) {
    const Refusal refusal = refusal_of_basics({std::string("--steps=") + text});
    EXPECT_EQ(refusal.kind, ErrorKind::kUsage) << text;
    EXPECT_THAT(refusal.message, HasSubstr("needed an integer")) << text;
  }
  EXPECT_THAT(refusal_of_basics({"--steps=010"}).message, HasSubstr("octal"));
}

TEST(Values, OptionalIntegersTakeEveryNull) {
  for (const char* text : {"null", "~", "Null", "NULL"}) {
    EXPECT_EQ(parse_basics({std::string("--seed=") + text}).config.seed, std::nullopt) << text;
  }
  EXPECT_EQ(parse_basics({"--seed=0x10"}).config.seed, 16);
  EXPECT_EQ(refusal_of_basics({"--seed=None"}).kind, ErrorKind::kUsage);
}

TEST(Values, FloatsTakeEveryFormOfBothGrammars) {
  EXPECT_EQ(parse_float("1e-4"), 1e-4);
  EXPECT_EQ(parse_float("1e4"), 1e4);
  EXPECT_EQ(parse_float(".5"), 0.5);
  EXPECT_EQ(parse_float("5."), 5.0);
  EXPECT_EQ(parse_float("-.5"), -0.5);
  EXPECT_EQ(parse_float("+1.5E+2"), 150.0);
  EXPECT_EQ(parse_float("1_000.5"), 1000.5);
  for (const char* text : {"inf", ".inf", "Infinity", "INF", ".Inf"})
    EXPECT_TRUE(std::isinf(*parse_float(text))) << text;
  for (const char* text : {"nan", ".nan", "NaN"}) EXPECT_TRUE(std::isnan(*parse_float(text))) << text;
  EXPECT_LT(*parse_float("-inf"), 0);
  for (const char* text : {"", ".", "1e", "e5", "1.2.3", "0x1p3", "five", "1_", "--1"}) {
    EXPECT_EQ(parse_float(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_basics({"--tolerance_s=5"}).config.tolerance_s, 5.0);
  EXPECT_TRUE(std::isinf(parse_basics({"--tolerance_s=.inf"}).config.tolerance_s));
  EXPECT_THAT(refusal_of_basics({"--tolerance_s=nan"}).message, HasSubstr("found NaN, needed 0 or more"));
}

TEST(Values, TextsAreTakenAsTyped) {
  const auto job_name = [](const std::string& text) { return parse_basics({"--job_name=" + text}).config.job_name; };
  for (const char* text : {"yes", "1.10", "123", "1:30", "a #c", "[a]", "{a: 1}", "@x", "*x", "!x", "%x", ":", "None",
                           "a=b", "--like-a-flag", "\u65e5\u672c"}) {
    EXPECT_EQ(job_name(text), text);
  }
  EXPECT_EQ(job_name("\"no\""), "no");
  EXPECT_EQ(job_name("'it''s'"), "it's");
  EXPECT_EQ(job_name("'a' and 'b'"), "'a' and 'b'");
}

TEST(Values, NoIsAWordForMixedPrecision) {
  EXPECT_EQ(parse_basics({"--accelerator.mixed_precision=no"}).config.accelerator.mixed_precision, "no");
  EXPECT_EQ(parse_basics({"--accelerator={mixed_precision: no}"}).config.accelerator.mixed_precision, "no");
  EXPECT_EQ(parse_basics({"--accelerator.mixed_precision='no'"}).config.accelerator.mixed_precision, "no");
}

TEST(Values, ListsAreOneWordOfJsonOrYaml) {
  const auto episodes = [](const std::string& text) {
    return *parse_basics({"--dataset.episodes=" + text}).config.dataset.episodes;
  };
  EXPECT_EQ(episodes("[0,1]"), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(episodes("[ 0, 0x10, ]"), (std::vector<std::int64_t>{0, 16}));
  EXPECT_TRUE(episodes("[]").empty());
  const auto tags = common(*parse_basics({"--policy.tags=[a, \"b c\", 'd']"}).config.policy).tags;
  EXPECT_EQ(*tags, (std::vector<std::string>{"a", "b c", "d"}));
}

TEST(Values, MappingsTakeJsonAndYaml) {
  EXPECT_EQ(as_json(R"({"a": [1, 2.5, null], "b": {"c": true}})"), R"({"a":[1,2.5,null],"b":{"c":true}})");
  EXPECT_EQ(as_json("{a: 1, b: [x y, 'it''s'], c: {}}"), R"({"a":1,"b":["x y","it's"],"c":{}})");
  EXPECT_EQ(as_json(R"({"a":"\u0041\n"})"), R"({"a":"A\n"})");
  EXPECT_EQ(as_json("[a:b, http://x]"), R"(["a:b","http://x"])");
  EXPECT_EQ(as_json("{}"), "{}");
}

TEST(Values, BrokenMappingsSayWhere) {
  const auto message = [](const std::string& text) {
    try {
      parse_flow(text, "policy");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("{a: 1"), HasSubstr("needed , or }"));
  EXPECT_THAT(message("{a: 1} b"), HasSubstr("--policy: column 8"));
  EXPECT_THAT(message("{a:1}"), HasSubstr("a space after the colon"));
  EXPECT_THAT(message("{a: 1, a: 2}"), HasSubstr("twice"));
  EXPECT_THAT(message("{a: b: c}"), HasSubstr("braces"));
  EXPECT_THAT(message("{a: 'b}"), HasSubstr("no end"));
  EXPECT_THAT(message("[1,,2]"), HasSubstr("a value is missing"));
  EXPECT_THAT(message("{a: *b}"), HasSubstr("anchors"));
  EXPECT_THAT(message(std::string(1000, '[')), HasSubstr("too deeply"));
}

}  // namespace
}  // namespace lerobot::config
