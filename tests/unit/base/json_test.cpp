#include "host/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

namespace lerobot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    json::parse(text, "config.json", ErrorKind::kConfig);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Json, RefusalNamesFileLineColumnAndExcerpt) {
  EXPECT_THAT(refusal("{\n  \"a\": flase\n}"),
              AllOf(HasSubstr("config.json"), HasSubstr("line 2, column 8"), HasSubstr("flase")));
  EXPECT_THAT(refusal("{\"a\": 1,}"), HasSubstr("line 1, column 9"));
  EXPECT_THAT(refusal("{'a': 1}"), HasSubstr("line 1, column 2"));
  EXPECT_THAT(refusal("{\"a\": \"x"), HasSubstr("too early"));
  EXPECT_THAT(refusal("{\"a\": 1} x"), HasSubstr("line 1, column 10"));
  EXPECT_THAT(refusal("{\"a\": NaN}"), HasSubstr("line 1, column 7"));
  EXPECT_THAT(refusal(std::string(10000, '[')), HasSubstr("nested too deeply"));
}

TEST(Json, FindsTheFaultInTenMegabytes) {
  std::string text = "{\n";
  while (text.size() < 10'000'000) text += "  \"key" + std::to_string(text.size()) + "\": [1, 2.5, \"text\"],\n";
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_EQ(refusal(text + "  \"last\": 1\n}"), "accepted");
  EXPECT_THAT(refusal(text + "  \"last\": flase\n}"), HasSubstr(format("line {}, column 11", lines + 1)));
}

TEST(Json, RefusesAKeyThatStandsTwice) {
  EXPECT_THAT(refusal("{\"b\": {\"a\": 1, \"a\": 2}}"), HasSubstr("\"a\" stands twice"));
}

TEST(Json, ReadsADecimalAsTheNearestDouble) {
  // Python's shortest forms must come back as the same bits, or a resumed learning rate would differ.
  for (const std::string text :
       {"9.755282581475769e-05", "0.1", "1e-05", "2.2250738585072014e-308", "0.30000000000000004",
        "1.7976931348623157e+308", "9007199254740993.0", "123456789012345678.0", "5e-324", "8.954642441024114e-05",
        "-0.0", "4.930380657631324e-32"}) {
    const double value = json::parse(text, "x", ErrorKind::kConfig).as_double();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)))
        << text;
  }
}

TEST(Json, AnyDoubleComesBackTheSame) {
  std::mt19937_64 random(7);
  int different = 0;
  for (int round = 0; round < 50'000; ++round) {
    const auto bits = random();
    const auto value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) continue;
    const double again = json::parse(json::float_repr(value), "x", ErrorKind::kConfig).as_double();
    if (std::bit_cast<std::uint64_t>(again) != bits) ++different;
  }
  EXPECT_EQ(different, 0);
}

TEST(Json, AcceptsByteOrderMarkAndWindowsLineEnds) {
  const auto value = json::parse("\xEF\xBB\xBF{\r\n\"a\": 1\r\n}\r\n", "x", ErrorKind::kConfig);
  EXPECT_EQ(value.at("a").as_int64(), 1);
}

TEST(Json, ReadsPythonsNonFiniteWordsWhereAllowed) {
  const auto value = json::parse(R"({"a": [NaN, Infinity, -Infinity], "NaN": "Infinity \" NaN"})", "x",
                                 ErrorKind::kData, json::NonFinite::kAccept);
  EXPECT_TRUE(std::isnan(value.at("a").at(0).as_double()));
  EXPECT_EQ(value.at("a").at(1).as_double(), INFINITY);
  EXPECT_EQ(value.at("a").at(2).as_double(), -INFINITY);
  EXPECT_EQ(value.at("NaN").as_string(), "Infinity \" NaN");
}

TEST(Json, ErrorPositionsCountTheOriginalText) {
  try {
    json::parse("[NaN, NaN, nul]", "x", ErrorKind::kData, json::NonFinite::kAccept);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 1, column 12"));
  }
}

TEST(Json, WritesFloatsAsPythonDoes) {
  EXPECT_EQ(json::float_repr(1e-5), "1e-05");
  EXPECT_EQ(json::float_repr(1e-4), "0.0001");
  EXPECT_EQ(json::float_repr(10.0), "10.0");
  EXPECT_EQ(json::float_repr(0.0), "0.0");
  EXPECT_EQ(json::float_repr(-0.0), "-0.0");
  EXPECT_EQ(json::float_repr(1e16), "1e+16");
  EXPECT_EQ(json::float_repr(1e15), "1000000000000000.0");
  EXPECT_EQ(json::float_repr(123456789.125), "123456789.125");
  EXPECT_EQ(json::float_repr(3.4549150281252636e-05), "3.4549150281252636e-05");
  EXPECT_EQ(json::float_repr(1e300), "1e+300");
  EXPECT_EQ(json::float_repr(NAN), "NaN");
}

TEST(Json, WritesAsPythonsDumpDoes) {
  const boost::json::value value{{"a", {1, 2.0}},
                                 {"b", boost::json::object{}},
                                 {"c", nullptr},
                                 {"d", "\u00e9\U0001F600\n"},
                                 {"e", boost::json::array{}}};
  EXPECT_EQ(json::write(value),
            "{\n    \"a\": [\n        1,\n        2.0\n    ],\n    \"b\": {},\n    \"c\": null,\n    \"d\": "
            "\"\\u00e9\\ud83d\\ude00\\n\",\n    \"e\": []\n}");
  EXPECT_EQ(json::write(boost::json::value("\u00e9"), {.indent = 2, .escape_non_ascii = false}), "\"\u00e9\"");
}

}  // namespace
}  // namespace lerobot
