#include "host/base/text.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace lerobot {
namespace {

TEST(Text, FindsTheNameThatWasMeant) {
  EXPECT_EQ(nearest_name("batchsize", {"steps", "batch_size", "seed"}), "batch_size");
  EXPECT_EQ(nearest_name("stpes", {"steps", "batch_size"}), "steps");
  EXPECT_EQ(nearest_name("zzzzzzzz", {"steps", "batch_size"}), std::nullopt);
  EXPECT_EQ(nearest_name("steps", {}), std::nullopt);
}

TEST(Text, QuotesForAShellOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_quote("--steps=3"), "--steps=3");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(Text, JoinsParts) {
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, MatchesGlobs) {
  EXPECT_TRUE(glob_match("cuda*", "cuda"));
  EXPECT_TRUE(glob_match("*a*b", "xxaxxab"));
  EXPECT_TRUE(glob_match("?pu", "cpu"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_FALSE(glob_match("cuda", "cuda2"));
  EXPECT_FALSE(glob_match("*a*b", "xxbxxa"));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_FALSE(glob_match(std::string(30, '*').append("b"), std::string(10000, 'a')));
}

TEST(Text, TellsAnUnsetVariableFromAnEmptyOne) {
  ::unsetenv("LEROBOT_TEXT_TEST");
  EXPECT_EQ(environment("LEROBOT_TEXT_TEST"), std::nullopt);
  ::setenv("LEROBOT_TEXT_TEST", "", 1);
  EXPECT_EQ(environment("LEROBOT_TEXT_TEST"), "");
  ::unsetenv("LEROBOT_TEXT_TEST");
}

}  // namespace
}  // namespace lerobot
