#include "host/base/digest.h"

#include <gtest/gtest.h>

namespace lerobot {
namespace {

std::string hex_of(Digest digest, const std::string& text, std::size_t piece) {
  for (std::size_t at = 0; at < text.size(); at += piece) digest.add(std::string_view(text).substr(at, piece));
  return digest.hex();
}

struct Case {
  std::string text, sha1, sha256;
};

// The examples of FIPS 180 and one that ends right after a block.
const std::vector<Case> kCases = {
    {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {std::string(1000000, 'a'), "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST(Digest, OfTheStandardsExamplesInPiecesOfAnySize) {
  for (const Case& example : kCases) {
    for (const std::size_t piece : {1, 3, 63, 64, 65, 1000, 1000000}) {
      EXPECT_EQ(hex_of(Digest::sha1(), example.text, piece), example.sha1) << piece;
      EXPECT_EQ(hex_of(Digest::sha256(), example.text, piece), example.sha256) << piece;
    }
  }
}

TEST(Digest, CanBeReadBeforeTheEnd) {
  Digest digest = Digest::sha1();
  digest.add("a");
  EXPECT_EQ(digest.hex(), hex_of(Digest::sha1(), "a", 1));
  digest.add("bc");
  EXPECT_EQ(digest.hex(), kCases[1].sha1);
}

}  // namespace
}  // namespace lerobot
