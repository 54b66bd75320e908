#include "sdk/failure.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <stdexcept>

namespace lerobot::sdk {
namespace {

lra_error empty_error() {
  lra_error error{};
  error.struct_size = sizeof(error);
  return error;
}

TEST(Guarded, ReturnsOkAndLeavesTheErrorAlone) {
  lra_error error = empty_error();
  EXPECT_EQ(guarded(&error, [] {}), LRA_OK);
  EXPECT_EQ(error.code, LRA_OK);
  EXPECT_STREQ(error.message, "");
}

TEST(Guarded, HandsOverAFailureWhole) {
  lra_error error = empty_error();
  EXPECT_EQ(guarded(&error, [] { throw Failure(LRA_UNAVAILABLE, "no driver", "Install it.", 100); }), LRA_UNAVAILABLE);
  EXPECT_EQ(error.code, LRA_UNAVAILABLE);
  EXPECT_EQ(error.vendor_code, 100);
  EXPECT_STREQ(error.message, "no driver");
  EXPECT_STREQ(error.hint, "Install it.");
}

TEST(Guarded, LetsNoOtherExceptionOut) {
  lra_error error = empty_error();
  EXPECT_EQ(guarded(&error, [] { throw std::runtime_error("broken"); }), LRA_INTERNAL);
  EXPECT_STREQ(error.message, "broken");
  EXPECT_EQ(guarded(&error, [] { throw std::bad_alloc(); }), LRA_OUT_OF_MEMORY);
  EXPECT_EQ(guarded(&error, [] { throw 42; }), LRA_INTERNAL);
  EXPECT_STRNE(error.message, "broken");
  EXPECT_EQ(guarded(nullptr, [] { throw 42; }), LRA_INTERNAL);
}

TEST(Guarded, WritesNothingIntoAnErrorThatIsTooSmall) {
  lra_error error = empty_error();
  error.struct_size = 16;
  EXPECT_EQ(guarded(&error, [] { throw std::runtime_error("broken"); }), LRA_INTERNAL);
  EXPECT_EQ(error.code, LRA_OK);
  EXPECT_STREQ(error.message, "");
}

TEST(CopyText, TerminatesWhatFitsExactlyAndWhatDoesNot) {
  char text[4];
  copy_text(text, "abc");
  EXPECT_STREQ(text, "abc");
  copy_text(text, "abcd");
  EXPECT_STREQ(text, "abc");
  copy_text(text, "");
  EXPECT_STREQ(text, "");
}

TEST(CopyText, CutsBetweenCharacters) {
  char text[5];
  copy_text(text, "ab\xE2\x82\xAC");  // the euro sign's third byte would not fit
  EXPECT_STREQ(text, "ab");
  copy_text(text, "a\xE2\x82\xAC");
  EXPECT_STREQ(text, "a\xE2\x82\xAC");
}

}  // namespace
}  // namespace lerobot::sdk
