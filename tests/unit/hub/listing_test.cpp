#include "host/hub/listing.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "host/base/error.h"
#include "host/base/file.h"
#include "tests/support/scratch.h"

namespace lerobot::hub {
namespace {

using testing::HasSubstr;

const std::string kId(40, 'a');
const std::string kSha256(64, 'b');

Listing listing_of(const std::string& page) {
  Listing listing;
  add_page(listing, boost::json::parse(page), "a/b", ErrorKind::kData);
  return listing;
}

std::string refusal_of(const std::string& page) {
  try {
    listing_of(page);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.what();
  }
  return "accepted";
}

std::string entry(const std::string& path, const std::string& size = "5", const std::string& oid = kId) {
  return R"([{"type": "file", "path": )" + path + R"(, "size": )" + size + R"(, "oid": ")" + oid + R"("}])";
}

TEST(HubListing, TakesFilesWithTheHashThatTheirContentHas) {
  const Listing listing =
      listing_of(R"([{"type": "directory", "path": "d", "oid": ")" + kId + R"(", "size": 0}, {"type": "file",
    "path": "d/small", "size": 5, "oid": ")" +
                 kId + R"("}, {"type": "file", "path": "d/large", "size": 9, "oid": ")" + kId +
                 R"(", "lfs": {"oid": ")" + kSha256 + R"(", "size": 700, "pointerSize": 134}, "xetHash": "none"}])");
  ASSERT_EQ(listing.size(), 2U);
  EXPECT_EQ(listing[0].id(), kId);
  EXPECT_EQ(listing[0].size, 5U);
  EXPECT_EQ(listing[1].id(), kSha256);
  EXPECT_EQ(listing[1].size, 700U);
  EXPECT_EQ(listing[1].xet_hash, "");
}

TEST(HubListing, DigestOfASmallFileIsGits) {
  RemoteFile file{"f", 6, kId, "", ""};
  Digest digest = file.digest();
  digest.add("hello\n");
  EXPECT_EQ(digest.hex(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST(HubListing, NamesThatLeaveTheFolderAreRefused) {
  for (const char* path : {R"("../x")", R"("a/../../x")", R"("/etc/passwd")", R"("a//b")", R"("a/.")", R"("./a")",
                           R"("")", R"("a\\..\\b")", R"("a\u0000b")", R"("a\nb")", R"("a/")", R"("..")"}) {
    EXPECT_THAT(refusal_of(entry(path)), HasSubstr("a name that would leave the folder")) << path;
  }
  EXPECT_THAT(refusal_of(entry('"' + std::string(201, 'a') + '"')), HasSubstr("would leave"));
  EXPECT_EQ(listing_of(entry(R"("a/..b/ü c")")).size(), 1U);
}

TEST(HubListing, IdsAndSizesThatAreNoneAreRefused) {
  EXPECT_THAT(refusal_of(entry(R"("a")", "-1")), HasSubstr("no usable size"));
  EXPECT_THAT(refusal_of(entry(R"("a")", "1e3")), HasSubstr("no usable size"));
  EXPECT_THAT(refusal_of(entry(R"("a")", "9007199254740993")), HasSubstr("no usable size"));
  EXPECT_THAT(refusal_of(entry(R"("a")", "5", "../../../../etc/cron.d/x")), HasSubstr("no usable id"));
  EXPECT_THAT(refusal_of(R"([{"type": "file", "path": "a", "size": 5, "oid": ")" + kId + R"(", "lfs": {"size": 5}}])"),
              HasSubstr("no usable SHA-256"));
  EXPECT_THAT(refusal_of(R"({"error": "x"})"), HasSubstr("no list"));
  EXPECT_THAT(refusal_of("[7]"), HasSubstr("an entry that is none"));
}

class KeptListing : public ScratchTest {};

TEST_F(KeptListing, IsReadBackAndABrokenOneIsNot) {
  const Listing listing{{"a/b", 5, kId, "", ""}, {"c", 700, kId, kSha256, std::string(64, 'c')}};
  keep_listing(scratch(), kId, listing);
  const auto kept = read_kept_listing(scratch(), kId);
  ASSERT_TRUE(kept);
  ASSERT_EQ(kept->size(), 2U);
  EXPECT_EQ((*kept)[0].path, "a/b");
  EXPECT_EQ((*kept)[1].id(), kSha256);
  EXPECT_EQ((*kept)[1].size, 700U);
  EXPECT_EQ((*kept)[1].xet_hash, std::string(64, 'c'));
  EXPECT_EQ(read_kept_listing(scratch(), std::string(40, 'd')), std::nullopt);
  for (const char* text : {"", "{}", "[]", R"({"format_version": 2, "files": {}})",
                           R"({"format_version": 1, "files": {"../x": {"size": 5, "blob_id": "a"}}})"}) {
    replace_durable(scratch() / "trees" / (kId + ".json"), text);
    EXPECT_EQ(read_kept_listing(scratch(), kId), std::nullopt) << text;
  }
}

TEST(ChooseFiles, TakesNamesFoldersAndExtras) {
  const Listing listing{{"meta/info.json", 1, kId, "", ""},
                        {"meta/a/b", 1, kId, "", ""},
                        {"data/x", 1, kId, "", ""},
                        {"metadata", 1, kId, "", ""}};
  const auto chosen = [&](std::optional<std::vector<std::string>> paths, std::vector<std::string> extras = {}) {
    Request request;
    request.paths = std::move(paths);
    request.extras = std::move(extras);
    std::vector<std::string> names;
    for (const RemoteFile& file : choose_files(listing, request, "a/b", ErrorKind::kData)) names.push_back(file.path);
    return names;
  };
  EXPECT_EQ(chosen(std::nullopt).size(), 4U);
  EXPECT_THAT(chosen({{"meta/"}}), testing::ElementsAre("meta/info.json", "meta/a/b"));
  EXPECT_THAT(chosen({{"data/x"}}, {"metadata", "README.md"}), testing::ElementsAre("data/x", "metadata"));
  EXPECT_THAT(chosen({{}}), testing::IsEmpty());
  try {
    chosen({{"data/y", "meta/", "videos/"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a/b: has no data/y, videos/. It has 4 files.");
  }
}

}  // namespace
}  // namespace lerobot::hub
