// lerobot-accel check from the outside: options, exit codes, the report. No torch.
#include <gmock/gmock.h>

#include "host/base/json.h"
#include "host/check/message.h"
#include "tests/fakes/fake_package.h"
#include "tests/fakes/run_program.h"

namespace lerobot::check {
namespace {

using testing::HasSubstr;

constexpr char kProgram[] = LEROBOT_STAGE "/bin/lerobot-accel";

test::ProgramResult run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "check");
  return test::run_program(kProgram, arguments, {});
}

TEST(CheckProgram, ListsItsChecksByLevel) {
  const auto all = run({"--list"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, HasSubstr("static.manifest"));
  EXPECT_THAT(all.out, HasSubstr("numerics.scaler-rule"));
  const auto some = run({"--list", "--level=2", "--only=*nulls"});
  EXPECT_THAT(some.out, HasSubstr("abi.entry-nulls"));
  EXPECT_THAT(some.out, testing::Not(HasSubstr("static.")));
}

TEST(CheckProgram, RefusesWhatItDoesNotUnderstand) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "0 directories given, 1 needed"},
      {{"a", "b"}, "2 directories given, 1 needed"},
      {{"a", "--level=5"}, "--level=5: a whole number from 1 to 4"},
      {{"a", "--levl=1"}, "did you mean --level"},
      {{"a", "--only=nothing.*"}, "matches no check"},
      {{"/nonexistent"}, "/nonexistent: has no manifest.json"},
  };
  for (const auto& [arguments, says] : cases) {
    const auto result = run(arguments);
    EXPECT_EQ(result.code, 2) << says;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
}

TEST(CheckProgram, SaysOneLineForEachCheckAndASummary) {
  const test::TemporaryDirectory directory;
  const auto package = test::make_fake(directory.path(), "fake", "usable");
  const auto result = run({package.string(), "--level=1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("pass     static.manifest"));
  EXPECT_THAT(result.out, HasSubstr("FAIL     static.exports"));
  EXPECT_THAT(result.out, HasSubstr("FAIL     static.hashes"));
  // In a sanitized build the fake also links what no thin library may.
  EXPECT_THAT(result.out, testing::ContainsRegex("[0-9]+ passed, [23] failed, 0 skipped"));
}

TEST(CheckProgram, WritesTheSchemaThatTheDocumentsShow) {
  const test::TemporaryDirectory directory;
  const auto package = test::make_fake(directory.path(), "fake", "unavailable");
  const auto result = run({package.string(), "--level=1", "--json"});
  const auto report = json::parse(result.out, "the report", ErrorKind::kInternal);
  EXPECT_EQ(report.at("schema").as_int64(), 1);
  EXPECT_EQ(report.at("package").at("id").as_string(), "fake");
  EXPECT_FALSE(report.at("device").at("usable").as_bool());
  EXPECT_EQ(report.at("device").at("reason").as_string(), "driver 1.0 is too old, 2.0 is needed");
  EXPECT_EQ(report.at("checks").at(0).at("name").as_string(), "static.manifest");
  EXPECT_EQ(report.at("checks").at(0).at("result").as_string(), "pass");
  EXPECT_EQ(report.at("passed").to_number<int>() + report.at("failed").to_number<int>() +
                report.at("skipped").to_number<int>(),
            static_cast<int>(report.at("checks").as_array().size()));
}

TEST(CheckProgram, StopsAtABrokenManifest) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "fake/manifest.json", "{");
  const auto result = run({(directory.path() / "fake").string()});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("FAIL     static.manifest"));
  EXPECT_THAT(result.out, HasSubstr("1 failed"));
}

TEST(CheckMessage, RefusesAnAnswerThatIsNone) {
  EXPECT_EQ(read_verdict(write_verdict({Verdict::Kind::kSkipped, "why"})).detail, "why");
  for (const char* line : {"", "[]", "{}", R"({"verdict": "maybe", "detail": ""})", R"({"verdict": "pass"})"}) {
    EXPECT_THROW(read_verdict(line), Error) << line;
  }
}

}  // namespace
}  // namespace lerobot::check
