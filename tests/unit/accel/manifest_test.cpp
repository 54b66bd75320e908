#include "host/accel/manifest.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>

#include "host/accel/sha256.h"
#include "host/base/error.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;
using testing::AllOf;
using testing::HasSubstr;

class ManifestFile : public testing::Test {
 protected:
  std::string problem(const std::string& text) {
    test::write_file(directory_.path() / "manifest.json", text);
    try {
      read_manifest(directory_.path());
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDevice);
      return error.what();
    }
  }

  std::string problem_with(const std::string& key, const bj::value& value) {
    bj::object manifest = test::fake_manifest("fake");
    manifest[key] = value;
    return problem(bj::serialize(manifest));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ManifestFile, GivesEveryField) {
  bj::object text = test::fake_manifest("fake");
  text["torch"] = bj::object{{"from", "torch-cpu"}};
  text["torch_version"] = "2.11.0";
  text["preload"] = bj::array{"lib/a.so", "lib/b.so"};
  text["device_archs"] = bj::array{"sm_90"};
  text["priority"] = 7;
  text["sha256"] = bj::object{{"libaccel.so", std::string(64, 'a')}};
  EXPECT_EQ(problem(bj::serialize(text)), "");
  const Manifest manifest = read_manifest(directory_.path());
  EXPECT_EQ(manifest.id, "fake");
  EXPECT_EQ(manifest.kind, Manifest::Kind::kPlugin);
  EXPECT_EQ(manifest.abi.major_max, 1u);
  EXPECT_EQ(manifest.probe, "libprobe.so");
  EXPECT_EQ(manifest.torch.kind, TorchSource::Kind::kPackage);
  EXPECT_EQ(manifest.torch.value, "torch-cpu");
  EXPECT_THAT(manifest.preload, testing::ElementsAre("lib/a.so", "lib/b.so"));
  EXPECT_TRUE(manifest.automatic);
  EXPECT_EQ(manifest.priority, 7);
  EXPECT_EQ(manifest.sha256.at(0).second, std::string(64, 'a'));
}

TEST_F(ManifestFile, IgnoresKeysOfLaterVersions) {
  EXPECT_EQ(problem_with("colour", "red"), "");
}

TEST_F(ManifestFile, ThatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_THAT(problem("{\"schema\": 1,,}"), HasSubstr("manifest.json"));
  EXPECT_NE(problem(""), "");
  EXPECT_NE(problem("[]"), "");
  EXPECT_NE(problem(std::string("\0\xff\xfe garbage", 12)), "");
  EXPECT_NE(problem(std::string(100000, '[')), "");
}

TEST_F(ManifestFile, WithAKeyTwiceIsRefused) {
  std::string text = bj::serialize(test::fake_manifest("fake"));
  text.insert(1, R"("library": "other.so",)");
  EXPECT_THAT(problem(text), AllOf(HasSubstr("library"), HasSubstr("twice")));
}

TEST_F(ManifestFile, ThatIsNotUtf8IsRefused) {
  std::string text = bj::serialize(test::fake_manifest("fake"));
  text.replace(text.find("Fake"), 4, "\xff\xfe\xc0\x80");
  EXPECT_NE(problem(text), "");
}

TEST_F(ManifestFile, NamesVariablesAndLibrariesPlainly) {
  EXPECT_EQ(problem_with("visible_devices", bj::array{"FOO_VISIBLE_DEVICES", "FOO_AFFINITY_MASK"}), "");
  for (const char* name : {"PATH", "AWS_SECRET_ACCESS_KEY", "foo_VISIBLE_DEVICES", "A B_DEVICES"}) {
    EXPECT_THAT(problem_with("visible_devices", bj::array{name}), HasSubstr(name));
  }
  EXPECT_THAT(problem_with("torch_libraries", bj::array{"libfoo.so"}), HasSubstr("belongs to an external torch"));
  bj::object text = test::fake_manifest("fake");
  text["torch"] = bj::object{{"external", true}};
  text["torch_version"] = "2.11.0";
  text["torch_libraries"] = bj::array{"libtorch_foo.so"};
  EXPECT_EQ(problem(bj::serialize(text)), "");
  for (const char* name : {"../libfoo.so", "/lib/libfoo.so", "sub/libfoo.so"}) {
    text["torch_libraries"] = bj::array{name};
    EXPECT_THAT(problem(bj::serialize(text)), HasSubstr("torch_libraries")) << name;
  }
}

TEST_F(ManifestFile, OfALaterSchemaAsksForANewerProgram) {
  EXPECT_THAT(problem_with("schema", 2), AllOf(HasSubstr("schema: 2"), HasSubstr("newer program")));
}

TEST_F(ManifestFile, RefusesPathsThatLeaveThePackage) {
  for (const char* path : {"../evil.so", "/lib/evil.so", "a/../../evil.so", "./x.so", "a//../b", "..", "a/"}) {
    EXPECT_THAT(problem_with("library", path), HasSubstr("library")) << path;
    EXPECT_THAT(problem_with("probe", path), HasSubstr("probe")) << path;
    EXPECT_THAT(problem_with("preload", bj::array{path}), HasSubstr("preload")) << path;
    EXPECT_THAT(problem_with("sha256", bj::object{{path, std::string(64, '0')}}), HasSubstr("sha256")) << path;
    EXPECT_THAT(problem_with("torch", bj::object{{"directory", path}}), HasSubstr("directory")) << path;
  }
}

TEST_F(ManifestFile, RefusesWrongTypesAndValues) {
  EXPECT_THAT(problem_with("id", "Not An Id"), HasSubstr("id"));
  EXPECT_THAT(problem_with("id", nullptr), HasSubstr("id: is missing"));
  EXPECT_THAT(problem_with("kind", "driver"), HasSubstr("kind"));
  EXPECT_THAT(problem_with("library", 3), HasSubstr("library: is not a text"));
  EXPECT_THAT(problem_with("library", nullptr), HasSubstr("library: is missing"));
  EXPECT_THAT(problem_with("abi", bj::object{{"major_min", 2}, {"major_max", 1}, {"minor", 0}}),
              HasSubstr("major_max"));
  EXPECT_THAT(problem_with("abi", bj::object{{"major_min", -1}}), HasSubstr("major_min"));
  EXPECT_THAT(problem_with("auto", "yes"), HasSubstr("auto"));
  EXPECT_THAT(problem_with("priority", 1e300), HasSubstr("priority"));
  EXPECT_THAT(problem_with("device_types", bj::array{}), HasSubstr("device_types"));
  EXPECT_THAT(problem_with("device_types", bj::array{"CUDA"}), HasSubstr("CUDA"));
  EXPECT_THAT(problem_with("torch", bj::object{}), HasSubstr("torch"));
  EXPECT_THAT(problem_with("torch", bj::object{{"external", "relative/path"}}), HasSubstr("torch.external"));
  EXPECT_THAT(problem_with("torch", bj::object{{"external", true}}), HasSubstr("torch_version"));
  EXPECT_THAT(problem_with("sha256", bj::object{{"a.so", "123"}}), HasSubstr("64"));
}

TEST_F(ManifestFile, BoundsTextsAndLists) {
  EXPECT_THAT(problem_with("name", bj::string(1000, 'x')), HasSubstr("1000 bytes"));
  EXPECT_THAT(problem_with("name", "two\nlines"), HasSubstr("control character"));
  bj::array many;
  for (int i = 0; i < 1000; ++i) many.emplace_back("x");
  EXPECT_THAT(problem_with("preload", many), HasSubstr("too many"));
  EXPECT_THAT(problem(std::string(2 << 20, ' ')), HasSubstr("bytes, at most"));
}

TEST_F(ManifestFile, WritableByEverybodyIsRefusedWithTheCure) {
  test::write_manifest(directory_.path(), test::fake_manifest("fake"));
  fs::permissions(directory_.path() / "manifest.json", fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT([&] { read_manifest(directory_.path()); },
              testing::ThrowsMessage<Error>(AllOf(HasSubstr("everybody"), HasSubstr("chmod go-w"))));
}

TEST_F(ManifestFile, InADirectoryWritableByEverybodyIsRefused) {
  test::write_manifest(directory_.path(), test::fake_manifest("fake"));
  fs::permissions(directory_.path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_THROW(read_manifest(directory_.path()), Error);
}

TEST_F(ManifestFile, WritableByAnotherGroupIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file to another group";
  test::write_manifest(directory_.path(), test::fake_manifest("fake"));
  const fs::path file = directory_.path() / "manifest.json";
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_NO_THROW(read_manifest(directory_.path())) << "the owner's own group";
  ASSERT_EQ(::chown(file.c_str(), 0, 54321), 0);
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_THAT([&] { read_manifest(directory_.path()); }, testing::ThrowsMessage<Error>(HasSubstr("its group")));
}

TEST_F(ManifestFile, ThatIsAPipeOrADirectoryIsRefusedWithoutReading) {
  fs::create_directory(directory_.path() / "manifest.json");
  EXPECT_THROW(read_manifest(directory_.path()), Error);
}

TEST(PackageFile, RefusesALinkOutOfThePackage) {
  const test::TemporaryDirectory directory;
  const fs::path package = directory.path() / "package";
  test::write_file(directory.path() / "outside.so", "x");
  test::write_file(package / "inside.so", "x");
  fs::create_symlink("../outside.so", package / "link.so");
  fs::create_symlink("inside.so", package / "alias.so");
  EXPECT_THAT([&] { package_file(package, "link.so"); },
              testing::ThrowsMessage<Error>(HasSubstr("link out of the package")));
  EXPECT_EQ(package_file(package, "alias.so"), package / "inside.so");
  EXPECT_THROW(package_file(package, "absent.so"), Error);
}

TEST(MajorMinor, IsTheFirstTwoNumbers) {
  EXPECT_EQ(major_minor("2.11.0+cu130"), "2.11");
  EXPECT_EQ(major_minor("2.11"), "2.11");
  EXPECT_EQ(major_minor("2"), "");
  EXPECT_EQ(major_minor("2."), "");
  EXPECT_EQ(major_minor("v2.11"), "");
  EXPECT_EQ(major_minor(""), "");
}

TEST(Sha256, HasTheStandardsAnswers) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory.path() / "file";
  test::write_file(file, "");
  EXPECT_EQ(sha256_file(file), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  test::write_file(file, "abc");
  EXPECT_EQ(sha256_file(file), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  test::write_file(file, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
  EXPECT_EQ(sha256_file(file), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  test::write_file(file, std::string(1000000, 'a'));
  EXPECT_EQ(sha256_file(file), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace lerobot::accel
