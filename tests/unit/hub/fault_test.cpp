#include <fstream>

#include "tests/unit/hub/hub_test_tools.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const char kFile[] = "data/chunk-000/file-000.parquet";

bj::object fault(const std::string& match, const bj::object& what, int times = 1) {
  bj::object out = what;
  out["match"] = match;
  out["times"] = times;
  return out;
}

TEST_F(HubTest, CutConnectionIsContinuedWhereItEnded) {
  serve({fault("resolve/.*parquet", {{"do", "cut"}, {"after", 100'000}}, 2)});
  const Fetched fetched = fetch(dataset());
  EXPECT_EQ(read_file(fetched.root / kFile), kData);
  const auto requests = server().requests("hub", kFile);
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].range, "");
  EXPECT_EQ(requests[1].range, "bytes=100000-");
  EXPECT_EQ(requests[2].range, "bytes=200000-");
}

TEST_F(HubTest, ManyCutsAreNoFailureWhileEachBringsSomething) {
  serve({fault("resolve/.*parquet", {{"do", "cut"}, {"after", 30'000}}, 9)});
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
}

TEST_F(HubTest, PartOfAnEarlierDownloadIsContinued) {
  serve({fault("resolve/.*parquet", {{"do", "cut"}, {"after", 70'000}}),
         fault("resolve/.*parquet", {{"do", "status"}, {"status", 404}})});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("not found"));
  const auto left = partials(cache());
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(fs::file_size(left[0]), 70'000U);
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
  EXPECT_EQ(server().requests("hub", kFile).back().range, "bytes=70000-");
  EXPECT_THAT(partials(cache()), IsEmpty());
}

TEST_F(HubTest, ServerThatKnowsNoRangesSendsEverythingAgain) {
  serve({fault("resolve/.*parquet", {{"do", "cut"}, {"after", 70'000}}),
         fault("resolve/.*parquet", {{"do", "no_range"}})});
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
}

TEST_F(HubTest, DamagedPartIsThrownAwayAndDownloadedOnceMore) {
  serve({fault("resolve/.*parquet", {{"do", "cut"}, {"after", 70'000}}),
         fault("resolve/.*parquet", {{"do", "status"}, {"status", 404}})});
  refusal_of(dataset());
  const fs::path part = partials(cache()).at(0);
  std::fstream(part, std::ios::in | std::ios::out | std::ios::binary) << "damage";
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
}

TEST_F(HubTest, PartThatIsLargerThanTheFileIsThrownAway) {
  serve({fault("resolve/.*parquet", {{"do", "cut"}, {"after", 70'000}}),
         fault("resolve/.*parquet", {{"do", "status"}, {"status", 404}})});
  refusal_of(dataset());
  fs::resize_file(partials(cache()).at(0), 2'000'000);
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
  EXPECT_EQ(server().requests("hub", kFile).back().range, "");
}

TEST_F(HubTest, ContentWithAnotherHashIsNotPutInPlace) {
  serve({fault("resolve/.*parquet", {{"do", "damage"}}, 2)});
  const Refusal refusal = refusal_of(dataset());
  EXPECT_EQ(refusal.kind, ErrorKind::kData);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr(kFile), HasSubstr("the content is not what the server lists")));
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData) << "the next time it is right";
}

TEST_F(HubTest, DamagedSmallFileIsSeenToo) {
  serve({fault("resolve/.*info.json", {{"do", "damage"}}, 2)});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("the content is not what the server lists"));
}

TEST_F(HubTest, WrongSizeIsRefused) {
  serve({fault("resolve/.*parquet", {{"do", "size"}, {"size", 299'999}}),
         fault("resolve/.*parquet", {{"do", "size"}, {"size", 300'001}})});
  EXPECT_THAT(refusal_of(dataset()).message,
              AllOf(HasSubstr("wrong size: the server sends 299999 bytes, needed 300000"), HasSubstr(kFile)));
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("wrong size: the server sends 300001 bytes, needed 300000"));
}

TEST_F(HubTest, BodyWithoutEndIsCutOff) {
  serve({fault("resolve/.*parquet", {{"do", "endless"}})});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("more than the 300000 bytes"));
  for (const fs::path& part : partials(cache())) EXPECT_LE(fs::file_size(part), 300'000U);
}

TEST_F(HubTest, LoginPageInsteadOfAFileIsRefused) {
  serve({fault("resolve/.*info.json", {{"do", "body"}, {"body", "<html>Please log in</html>"}})});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("login page"));
}

TEST_F(HubTest, TooManyRequestsWaitAsLongAsTheServerAsks) {
  serve({fault("resolve/.*parquet", {{"do", "status"}, {"status", 429}, {"headers", {{"Retry-After", "1"}}}}),
         fault("/refs", {{"do", "status"}, {"status", 429}, {"headers", {{"RateLimit", "\"api\";r=0;t=1"}}}})});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(HubTest, TooManyRequestsAreAnErrorWhenTheWaitIsTooLong) {
  serve({fault("/refs", {{"do", "status"}, {"status", 429}, {"headers", {{"Retry-After", "3600"}}}})});
  EXPECT_THAT(refusal_of(dataset()).message, AllOf(HasSubstr("status 429"), HasSubstr("HF_TOKEN")));
}

TEST_F(HubTest, ServerErrorsAreTriedAgainAFewTimes) {
  serve({fault("/tree/", {{"do", "status"}, {"status", 503}}, 4)});
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
  EXPECT_THAT(server().requests("hub", "/tree/"), SizeIs(5));
  fs::remove_all(cache());
  serve({fault("/tree/", {{"do", "status"}, {"status", 500}}, 100)});
  EXPECT_THAT(refusal_of(dataset()).message, AllOf(HasSubstr("status 500"), HasSubstr("Try again later")));
  EXPECT_THAT(server().requests("hub", "/tree/"), SizeIs(5));
}

TEST_F(HubTest, RepositoryThatIsNotThereIsNamed) {
  serve();
  Request request = dataset();
  request.repo_id = "org/none";
  request.flag = "--dataset.repo_id=org/none";
  EXPECT_THAT(refusal_of(request).message, AllOf(HasSubstr("--dataset.repo_id=org/none"), HasSubstr("status 401"),
                                                 HasSubstr("HF_TOKEN is set (none is)")));
  Settings settings = this->settings();
  settings.token = "hf_secret";
  EXPECT_THAT(refusal_of(request, settings).message, AllOf(HasSubstr("status 404"), Not(HasSubstr("hf_secret"))));
}

TEST_F(HubTest, GatedRepositoryNeedsTheToken) {
  set()["token"] = "hf_secret";
  serve();
  const Refusal refusal = refusal_of(dataset());
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("granted on request"), HasSubstr("HF_TOKEN")));
  Settings settings = this->settings();
  settings.token = "hf_secret";
  EXPECT_EQ(read_file(fetch_files(dataset(), settings).root / kFile), kData);
}

TEST_F(HubTest, TokenIsSentToTheEndpointOnly) {
  set()["token"] = "hf_secret";
  serve({}, {{"elsewhere", true}});
  Settings settings = this->settings();
  settings.token = "hf_secret";
  fetch_files(dataset(), settings);
  for (const auto& request : server().requests("hub", "")) EXPECT_EQ(request.authorization, "Bearer hf_secret");
  ASSERT_THAT(server().requests("storage", ""), SizeIs(2));
  for (const auto& request : server().requests("storage", "")) EXPECT_EQ(request.authorization, "") << request.path;
}

TEST_F(HubTest, RedirectOnTheSameHostKeepsTheToken) {
  set()["token"] = "hf_secret";
  serve({fault("/api/datasets/org/old/refs", {{"do", "redirect"}, {"to", "/api/datasets/org/set/refs"}}),
         fault("/api/datasets/org/old/revision", {{"do", "redirect"}, {"to", "/api/datasets/org/set/revision/v3.0"}}),
         fault("/api/datasets/org/old/tree", {{"do", "redirect"}, {"to", "/nowhere"}})});
  Settings settings = this->settings();
  settings.token = "hf_secret";
  Request request = dataset();
  request.repo_id = "org/old";
  EXPECT_THAT(refusal_of(request, settings).message, HasSubstr("not found"));
  EXPECT_THAT(server().requests("hub", "org/set/revision"), SizeIs(1));
}

TEST_F(HubTest, RedirectsWithoutEndOrToOtherProtocolsAreNotFollowed) {
  serve({fault("resolve/.*parquet", {{"do", "redirect"}, {"to", "/datasets/org/set/resolve/x.parquet"}}, 100)});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("redirects without end"));
  write_file(scratch() / "secret", kData);
  serve({fault("resolve/.*parquet", {{"do", "redirect"}, {"to", "file://" + (scratch() / "secret").string()}}, 100)});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("redirects to nowhere"));
}

TEST_F(HubTest, SignedAddressThatHasRunOutIsAskedForAgainAndNotShown) {
  serve({fault("storage GET", {{"do", "status"}, {"status", 403}}, 1)}, {{"elsewhere", true}});
  EXPECT_EQ(read_file(fetch(dataset()).root / kFile), kData);
  fs::remove_all(cache());
  serve({fault("storage GET", {{"do", "status"}, {"status", 403}}, 100)}, {{"elsewhere", true}});
  EXPECT_THAT(refusal_of(dataset()).message,
              AllOf(HasSubstr("to which the hub redirects, answers with status 403"), Not(HasSubstr("signature"))));
}

TEST_F(HubTest, HugeAnswersAreNotRead) {
  serve({fault("/refs", {{"do", "body"}, {"body", std::string((32U << 20U) + 1, ' ')}})});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("larger than 32 MiB"));
  serve({fault("/refs", {{"do", "body"}, {"body", std::string(100'000, '[')}})});
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("something else than JSON"));
}

TEST_F(HubTest, StalledConnectionIsGivenUp) {
  serve({fault("resolve/.*parquet", {{"do", "hang"}, {"seconds", 30}})});
  Settings settings = this->settings();
  settings.stalled_timeout = std::chrono::seconds(1);
  EXPECT_EQ(read_file(fetch_files(dataset(), settings).root / kFile), kData);
  EXPECT_THAT(server().requests("hub", kFile), SizeIs(2));
}

TEST_F(HubTest, RoomIsCheckedBeforeAnythingIsDownloaded) {
  const std::string id(40, 'a');
  set()["entries"] = {{{"type", "file"}, {"path", "data/huge.parquet"}, {"size", std::int64_t{1} << 50}, {"oid", id}}};
  serve();
  const Refusal refusal = refusal_of(dataset());
  EXPECT_EQ(refusal.kind, ErrorKind::kIo);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("needs 1125899907 MB"), HasSubstr("HF_LEROBOT_HOME")));
  EXPECT_THAT(server().requests("hub", "/resolve/"), IsEmpty());
}

TEST_F(HubTest, AnotherCommitOrContentThanListedIsRefused) {
  serve();
  fetch(dataset({{"meta/"}}));
  write_file(scratch() / "server/set" / kFile, std::string(kData.size(), 'x'));  // under the same commit
  EXPECT_THAT(refusal_of(dataset()).message, HasSubstr("the server has another content than its list"));
}

}  // namespace
}  // namespace lerobot::hub
