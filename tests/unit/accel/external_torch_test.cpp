#include "host/accel/external_torch.h"

#include <gmock/gmock.h>

#include "host/accel/torch_runtime.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ExternalTorchTest : public testing::Test {
 protected:
  ExternalTorchTest() {
    plugin_.id = "foo";
    plugin_.name = "Foo";
    plugin_.torch = {TorchSource::Kind::kExternal, ""};
    plugin_.torch_version = "2.11.0";
    plugin_.torch_libraries = {"libtorch_foo.so"};
  }

  /// A torch as pip installs it, with libtorch_`vendor`.so.
  fs::path python_torch(const std::string& environment, const std::string& version, const std::string& vendor) {
    const fs::path torch = root_.path() / environment / "lib/python3.12/site-packages/torch";
    test::write_file(torch / "version.py",
                     "from typing import Optional\n\n__version__ = '" + version + "'\ndebug = 0\n");
    return add_libraries(torch / "lib", vendor);
  }

  fs::path add_libraries(const fs::path& directory, const std::string& vendor) {
    for (const std::string name : {"libc10.so", "libtorch_cpu.so"}) test::write_file(directory / name, "x");
    if (!vendor.empty()) test::write_file(directory / ("libtorch_" + vendor + ".so"), "x");
    return directory;
  }

  void activate(const char* variable, const std::string& environment) {
    options_.variables[variable] = (root_.path() / environment).string();
  }

  ExternalTorch find() { return find_external_torch(plugin_, options_); }

  test::TemporaryDirectory root_;
  Manifest plugin_;
  TorchOptions options_{std::nullopt, {}};
};

TEST_F(ExternalTorchTest, IsTheActiveEnvironmentsAndSaysSo) {
  const fs::path lib = python_torch("env", "2.11.0+foo7", "foo");
  activate("VIRTUAL_ENV", "env");
  const ExternalTorch found = find();
  ASSERT_TRUE(found.chosen);
  EXPECT_EQ(found.chosen->directory, lib);
  EXPECT_EQ(found.chosen->version, "2.11.0+foo7");
  EXPECT_THAT(found.chosen->origin, AllOf(HasSubstr("VIRTUAL_ENV"), HasSubstr((root_.path() / "env").string())));
}

TEST_F(ExternalTorchTest, OfCondaIsTakenAfterOneOfVenvThatDoesNotFit) {
  python_torch("env", "2.11.0+cpu", "");
  const fs::path lib = python_torch("conda", "2.11.1", "foo");
  activate("VIRTUAL_ENV", "env");
  activate("CONDA_PREFIX", "conda");
  const ExternalTorch found = find();
  ASSERT_TRUE(found.chosen);
  EXPECT_EQ(found.chosen->directory, lib);
  ASSERT_EQ(found.rejected.size(), 1u);
  EXPECT_THAT(found.rejected[0].problem, HasSubstr("2.11.0+cpu without libtorch_foo.so (it has none such)"));
}

TEST_F(ExternalTorchTest, BuiltForOtherHardwareIsRefusedBeforeItIsLoaded) {
  python_torch("env", "2.11.0+cu130", "cuda");
  activate("VIRTUAL_ENV", "env");
  const ExternalTorch found = find();
  EXPECT_FALSE(found.chosen);
  ASSERT_EQ(found.rejected.size(), 1u);
  EXPECT_THAT(found.rejected[0].problem,
              AllOf(HasSubstr("2.11.0+cu130 without libtorch_foo.so"), HasSubstr("it has libtorch_cuda.so"),
                    HasSubstr("built for other hardware"), HasSubstr("Install the torch for Foo")));
}

TEST_F(ExternalTorchTest, OfAnotherMinorVersionIsRefusedWithBothVersions) {
  python_torch("env", "2.12.0", "foo");
  activate("CONDA_PREFIX", "env");
  ASSERT_EQ(find().rejected.size(), 1u);
  EXPECT_THAT(find().rejected[0].problem, AllOf(HasSubstr("2.12.0"), HasSubstr("2.11.0")));
}

TEST_F(ExternalTorchTest, NamedByTheUserIsNeverReplaced) {
  python_torch("env", "2.11.0", "foo");
  activate("VIRTUAL_ENV", "env");
  options_.directory = (root_.path() / "absent").string();
  EXPECT_FALSE(find().chosen);
  EXPECT_THAT(find().rejected,
              ElementsAre(testing::Field(&TorchPlace::problem, HasSubstr("holds no libtorch_cpu.so"))));
}

TEST_F(ExternalTorchTest, IsTakenFromFlagThenVariableThenManifestThenEnvironment) {
  for (const char* name : {"flag", "variable", "manifest"}) add_libraries(root_.path() / name / "lib", "foo");
  python_torch("env", "2.11.0", "foo");
  activate("VIRTUAL_ENV", "env");
  EXPECT_THAT(find().chosen->directory, HasSubstr("env/lib/python3.12"));
  plugin_.torch.value = (root_.path() / "manifest").string();
  EXPECT_EQ(find().chosen->directory, root_.path() / "manifest/lib");
  options_.variables["LEROBOT_TORCH_DIR"] = (root_.path() / "variable").string();
  EXPECT_EQ(find().chosen->directory, root_.path() / "variable/lib");
  options_.directory = (root_.path() / "flag/lib").string();
  EXPECT_EQ(find().chosen->directory, root_.path() / "flag/lib");
}

TEST_F(ExternalTorchTest, IsReadFromTheFilesThatTorchInstalls) {
  const fs::path lib = add_libraries(root_.path() / "libtorch/lib", "foo");
  EXPECT_EQ(installed_torch_version(lib), "");
  test::write_file(root_.path() / "libtorch/build-version", "2.11.0+cu126\n");
  EXPECT_EQ(installed_torch_version(lib), "2.11.0+cu126");
  test::write_file(root_.path() / "libtorch/build-version", "\x1b[2J; rm -rf\n");
  EXPECT_EQ(installed_torch_version(lib), "") << "only a version passes";
}

TEST_F(ExternalTorchTest, IsOpenedAfterItsOpenMpAndBeforeTheVendorsPart) {
  const fs::path lib = python_torch("env", "2.11.0", "foo");
  test::write_file(lib / "libgomp.so.1", "x");
  activate("VIRTUAL_ENV", "env");
  Package package;
  package.id = "foo";
  package.directory = root_.path();
  package.manifest = plugin_;
  const TorchRuntime torch = resolve_torch(package, {}, options_);
  EXPECT_EQ(torch.problem, "");
  EXPECT_EQ(torch.version, "2.11.0");
  EXPECT_THAT(torch.preload,
              ElementsAre(lib / "libgomp.so.1", lib / "libc10.so", lib / "libtorch_cpu.so", lib / "libtorch_foo.so"));
}

TEST_F(ExternalTorchTest, ThatIsUnfitIsStillShownToTheProbe) {
  const fs::path lib = python_torch("env", "2.11.0+cu130", "cuda");
  activate("VIRTUAL_ENV", "env");
  Package package;
  package.manifest = plugin_;
  const TorchRuntime torch = resolve_torch(package, {}, options_);
  EXPECT_THAT(torch.problem, HasSubstr(lib.string()));
  EXPECT_EQ(torch.directory, lib);
  EXPECT_EQ(torch.version, "2.11.0+cu130");
}

TEST_F(ExternalTorchTest, ThatIsNowhereNamesTheWaysToGiveOne) {
  Package package;
  package.manifest = plugin_;
  EXPECT_THAT(resolve_torch(package, {}, options_).problem,
              AllOf(HasSubstr("torch 2.11 for Foo"), HasSubstr("--torch_dir"), HasSubstr("LEROBOT_TORCH_DIR"),
                    HasSubstr("Python environment"), Not(HasSubstr("its torch:"))));
}

}  // namespace
}  // namespace lerobot::accel
