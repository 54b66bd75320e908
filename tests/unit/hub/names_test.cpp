#include <fstream>

#include "host/hub/version.h"
#include "tests/unit/hub/hub_test_tools.h"

namespace lerobot::hub {
namespace {

using testing::HasSubstr;

TEST(HubNames, OfRepositoriesAreOrganisationAndName) {
  for (const char* name : {"lerobot/pusht", "a/b", "Org-1/name_2.v3", "_a/_b"}) EXPECT_TRUE(is_repo_id(name)) << name;
  for (const char* name : {"pusht", "a/b/c", "/b", "a/", "a b/c", "../b", "a/..", "a/b.git", "a--b/c", "a/b..c", ".a/b",
                           "-a/b", "a/b-", "a/b?", "", "a/b\n"}) {
    EXPECT_FALSE(is_repo_id(name)) << name;
  }
  EXPECT_FALSE(is_repo_id("a/" + std::string(97, 'b')));
}

TEST(HubVersion, IsTheWantedOneElseTheHighestBelowItOfTheSameMajor) {
  const auto choose = [](const std::vector<std::string>& names, const std::string& wanted = "v3.0") {
    return choose_version(names, wanted, "--dataset.repo_id=a/b");
  };
  EXPECT_EQ(choose({"main", "v2.0", "v3.0", "v3.1"}), "v3.0");
  EXPECT_EQ(choose({"main", "3.0"}), "3.0");
  EXPECT_EQ(choose({"v3.0", "v3.1", "v3.10", "v4.0"}, "v3.9"), "v3.1");
  EXPECT_EQ(choose({"v2.0", "v2.1", "v1.6"}), "v2.1");  // read without conversion
  EXPECT_EQ(choose({"v2.0", "v2.1"}, "v2.0"), "v2.0");
}

TEST(HubVersion, ThatIsNotThereIsRefusedWithThoseThatAre) {
  const auto message = [](const std::vector<std::string>& names) {
    try {
      choose_version(names, "v3.0", "--dataset.repo_id=a/b");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message({"main", "v1.6", "v2.0"}), HasSubstr("has the versions v1.6, v2.0, needed v3.0"));
  EXPECT_THAT(message({"v4.0"}), HasSubstr("too old"));
  EXPECT_THAT(message({"main", "v3.0-fix", "version3"}), HasSubstr("has no branch or tag with a version"));
}

TEST(HubVersion, IsNumbersWithDots) {
  EXPECT_EQ(parse_version("v3.0"), parse_version("3"));
  EXPECT_EQ(parse_version("v2.1.3"), (std::vector<int>{2, 1, 3}));
  for (const char* text : {"", "v", "main", "3.", "3..1", "3.0rc1", "v99999999999", "-1", "3 "}) {
    EXPECT_EQ(parse_version(text), std::nullopt) << text;
  }
}

class HubSettings : public ScratchTest {
 protected:
  HubSettings() { variables_.set("HOME", scratch().string()); }
  void set(const char* name, const std::string& value) { variables_.set(name, value); }
  static std::string refusal() {
    try {
      read_settings(RepoType::kModel);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    return "accepted";
  }

 private:
  Variables variables_;
};

TEST_F(HubSettings, CachesLieWherePythonsLie) {
  const auto cache = [](RepoType type) { return read_settings(type).cache.string(); };
  const std::string home = scratch().string();
  EXPECT_EQ(cache(RepoType::kModel), home + "/.cache/huggingface/hub");
  EXPECT_EQ(cache(RepoType::kDataset), home + "/.cache/huggingface/lerobot/hub");
  set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(cache(RepoType::kDataset), "/x/huggingface/lerobot/hub");
  set("HF_HOME", "~/h");
  EXPECT_EQ(cache(RepoType::kModel), home + "/h/hub");
  EXPECT_EQ(cache(RepoType::kDataset), home + "/h/lerobot/hub");
  set("HF_HUB_CACHE", "/c");
  set("HF_LEROBOT_HOME", "/l");
  EXPECT_EQ(cache(RepoType::kModel), "/c");
  EXPECT_EQ(cache(RepoType::kDataset), "/l/hub");
  set("HF_HUB_CACHE", "");  // the same as unset
  EXPECT_EQ(cache(RepoType::kModel), home + "/h/hub");
  set("LEROBOT_HOME", "/old");
  EXPECT_THROW(lerobot_home(), Error);
}

TEST_F(HubSettings, TokenIsTheVariablesElseTheFiles) {
  EXPECT_EQ(read_settings(RepoType::kModel).token, "");
  std::filesystem::create_directories(home());
  std::ofstream(home() / "token") << "hf_file\n";
  EXPECT_EQ(read_settings(RepoType::kModel).token, "hf_file");
  set("HF_TOKEN", " hf_variable\r\n");
  EXPECT_EQ(read_settings(RepoType::kModel).token, "hf_variable");
  set("HF_TOKEN", "hf one\ttwo");
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("HF_TOKEN"), testing::Not(HasSubstr("two"))));
}

TEST_F(HubSettings, WhatCannotBeUsedIsRefused) {
  set("HF_ENDPOINT", "https://mirror.example/hf//");
  set("HF_HUB_DOWNLOAD_TIMEOUT", "7");
  set("HF_HUB_OFFLINE", "yes");
  const Settings settings = read_settings(RepoType::kModel);
  EXPECT_EQ(settings.endpoint, "https://mirror.example/hf");
  EXPECT_EQ(settings.stalled_timeout.count(), 7);
  EXPECT_TRUE(settings.offline);
  set("HF_HUB_OFFLINE", "0");
  EXPECT_FALSE(read_settings(RepoType::kModel).offline);
  set("HF_HUB_DOWNLOAD_TIMEOUT", "soon");
  EXPECT_THAT(refusal(), HasSubstr("HF_HUB_DOWNLOAD_TIMEOUT: found soon"));
  for (const char* endpoint : {"mirror.example", "ftp://x", "https://a b", "file:///etc/passwd"}) {
    set("HF_ENDPOINT", endpoint);
    EXPECT_THAT(refusal(), HasSubstr("HF_ENDPOINT: found")) << endpoint;
  }
}

}  // namespace
}  // namespace lerobot::hub
