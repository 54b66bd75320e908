#include "host/hub/http.h"

#include <gtest/gtest.h>

namespace lerobot::hub {
namespace {

TEST(HubHttp, OriginIsSchemeHostAndPort) {
  EXPECT_EQ(HttpClient::origin_of("https://Hub.Example/a/b?c"), "https://hub.example:443");
  EXPECT_EQ(HttpClient::origin_of("http://hub.example"), HttpClient::origin_of("http://hub.example:80/x"));
  EXPECT_NE(HttpClient::origin_of("http://hub.example"), HttpClient::origin_of("https://hub.example"));
  EXPECT_NE(HttpClient::origin_of("https://hub.example"), HttpClient::origin_of("https://hub.example:8443"));
  EXPECT_NE(HttpClient::origin_of("https://hub.example"), HttpClient::origin_of("https://hub.example@evil.example"));
  EXPECT_NE(HttpClient::origin_of("https://hub.example"), HttpClient::origin_of("https://hub.example.evil.example"));
  EXPECT_EQ(HttpClient::origin_of("not a url"), "");
}

TEST(HubHttp, LinksAreSeenFromThePageTheyStandOn) {
  const auto resolve = HttpClient::resolve;
  EXPECT_EQ(resolve("https://a/b/c?d", "/e?f"), "https://a/e?f");
  EXPECT_EQ(resolve("https://a/b/c", "e"), "https://a/b/e");
  EXPECT_EQ(resolve("https://a/b", "//c/d"), "https://c/d");
  EXPECT_EQ(resolve("https://a/b", "http://c/d"), "http://c/d");
  for (const char* link : {"", "file:///etc/passwd", "ftp://a/b", "javascript:x"}) {
    EXPECT_EQ(resolve("https://a/b", link), std::nullopt) << link;
  }
  EXPECT_EQ(HttpClient::target_of("https://a:1/b/c?d=e&f"), "/b/c?d=e&f");
}

TEST(HubHttp, NamesAreEncodedForAddresses) {
  EXPECT_EQ(percent_encode("a b/ü?#%.mp4", true), "a%20b/%C3%BC%3F%23%25.mp4");
  EXPECT_EQ(percent_encode("feature/x", false), "feature%2Fx");
}

}  // namespace
}  // namespace lerobot::hub
