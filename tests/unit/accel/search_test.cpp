#include "host/accel/search.h"

#include <gmock/gmock.h>

#include "host/base/error.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Search : public testing::Test {
 protected:
  Search() {
    options_.variables.clear();
    options_.libraries = root_ / "prefix/lib";
    options_.system = {root_ / "local", root_ / "usr"};
  }

  /// A package that is only searched for, never loaded.
  fs::path add(const fs::path& parent, const std::string& id) {
    fs::create_directories(root_ / parent / id);
    test::write_manifest(root_ / parent / id, test::fake_manifest(id));
    return root_ / parent / id;
  }

  std::vector<std::string> found() {
    std::vector<std::string> lines;
    for (const Package& package : find_packages(options_)) {
      lines.push_back(package.directory.lexically_relative(root_).string() + (package.shadowed_by ? " shadowed" : ""));
    }
    return lines;
  }

  test::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
  SearchOptions options_;
};

TEST_F(Search, GoesFromTheCommandLineToTheSystem) {
  for (const char* parent : {"typed", "added", "prefix/lib/lerobot/accel.d", "data/lerobot/accel.d", "local", "usr"})
    add(parent, "x");
  options_.command_line = {(root_ / "typed").string()};
  options_.variables = {{"LEROBOT_ACCEL_ADD_PLUGINS", (root_ / "added").string()},
                        {"XDG_DATA_HOME", (root_ / "data").string()}};
  EXPECT_THAT(found(), ElementsAre("typed/x", "added/x shadowed", "prefix/lib/lerobot/accel.d/x shadowed",
                                   "data/lerobot/accel.d/x shadowed", "local/x shadowed", "usr/x shadowed"));
}

TEST_F(Search, IsReplacedByTheVariableButNotForTheCommandLine) {
  for (const char* parent : {"typed", "only", "added", "prefix/lib/lerobot/accel.d", "usr"}) add(parent, "x");
  options_.command_line = {(root_ / "typed").string()};
  options_.variables = {{"LEROBOT_ACCEL_PLUGINS", (root_ / "only").string()},
                        {"LEROBOT_ACCEL_ADD_PLUGINS", (root_ / "added").string()}};
  EXPECT_THAT(found(), ElementsAre("typed/x", "only/x shadowed"));
  options_.variables["LEROBOT_ACCEL_PLUGINS"] = "";
  EXPECT_THAT(found(), ElementsAre("typed/x"));
}

TEST_F(Search, OrdersNamesByTheirBytes) {
  for (const char* id : {"b", "a", "a-b", "a0", "1"}) add("usr", id);
  EXPECT_THAT(found(), ElementsAre("usr/1", "usr/a", "usr/a-b", "usr/a0", "usr/b"));
}

TEST_F(Search, TakesAPackageNamedByItselfWhateverItsDirectoryIsCalled) {
  fs::create_directories(root_ / "build");
  test::write_manifest(root_ / "build", test::fake_manifest("mine"));
  options_.command_line = {(root_ / "build").string()};
  const auto packages = find_packages(options_);
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].id, "mine");
  EXPECT_TRUE(packages[0].manifest);
}

TEST_F(Search, ReportsABadManifestAndLetsTheNextPackageOfThatNameIn) {
  test::write_file(root_ / "local/x/manifest.json", "garbage");
  add("usr", "x");
  const auto packages = find_packages(options_);
  ASSERT_EQ(packages.size(), 2u);
  EXPECT_THAT(packages[0].problem, HasSubstr("manifest.json"));
  EXPECT_FALSE(packages[0].manifest);
  EXPECT_TRUE(packages[1].manifest);
  EXPECT_FALSE(packages[1].shadowed_by);
}

TEST_F(Search, RefusesAnIdThatIsNotItsDirectorysName) {
  fs::create_directories(root_ / "usr/x");
  test::write_manifest(root_ / "usr/x", test::fake_manifest("cuda"));
  const auto packages = find_packages(options_);
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_THAT(packages[0].problem, HasSubstr("is not the name of its directory"));
}

TEST_F(Search, CountsADirectoryReachedTwiceOnce) {
  add("usr", "x");
  options_.system = {root_ / "usr", root_ / "usr/../usr"};
  EXPECT_THAT(found(), ElementsAre("usr/x"));
}

TEST_F(Search, NeverLooksAtLooseLibrariesOrTheCurrentDirectory) {
  test::write_file(root_ / "usr/libevil.so", "x");
  test::write_file(root_ / "usr/empty/libevil.so", "x");
  EXPECT_TRUE(found().empty());
  for (const SearchRoot& root : search_roots(options_)) EXPECT_NE(root.directory, fs::current_path());
}

TEST_F(Search, WithRaisedPrivilegesUsesNoVariableAndNoUserDirectory) {
  options_.variables.clear();  // what trusted_variables gives then
  EXPECT_THAT(search_roots(options_), testing::SizeIs(3));
}

TEST_F(Search, RefusesAMissingDirectoryOfTheCommandLine) {
  options_.command_line = {(root_ / "absent").string()};
  EXPECT_THAT([&] { find_packages(options_); }, testing::ThrowsMessage<Error>(HasSubstr("absent")));
}

TEST_F(Search, PassesOverAMissingDirectoryOfAVariable) {
  options_.variables = {{"LEROBOT_ACCEL_PLUGINS", (root_ / "absent").string()}};
  EXPECT_TRUE(found().empty());
}

TEST(FilteredOut, FollowsGlobs) {
  EXPECT_EQ(filtered_out("cuda", {}), "");
  EXPECT_THAT(filtered_out("cuda", {{"LEROBOT_ACCEL_DISABLE", "rocm,cu*"}}),
              HasSubstr("LEROBOT_ACCEL_DISABLE=rocm,cu*"));
  EXPECT_EQ(filtered_out("cpu", {{"LEROBOT_ACCEL_DISABLE", "rocm,cu*"}}), "");
  EXPECT_EQ(filtered_out("cpu", {{"LEROBOT_ACCEL_SELECT", "cpu:cuda"}}), "");
  EXPECT_THAT(filtered_out("xpu", {{"LEROBOT_ACCEL_SELECT", "cpu:cuda"}}), HasSubstr("LEROBOT_ACCEL_SELECT"));
  EXPECT_EQ(filtered_out("xpu", {{"LEROBOT_ACCEL_SELECT", ""}}), "");
}

}  // namespace
}  // namespace lerobot::accel
