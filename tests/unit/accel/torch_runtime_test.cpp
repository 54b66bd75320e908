#include "host/accel/torch_runtime.h"

#include <gmock/gmock.h>

#include "host/accel/activate.h"
#include "host/base/error.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Torch : public testing::Test {
 protected:
  Torch() {
    plugin_ = package("plugin", Manifest::Kind::kPlugin);
    plugin_.manifest->torch = {TorchSource::Kind::kPackage, "torch-cpu"};
    plugin_.manifest->torch_version = "2.11.0";
  }

  Package package(const std::string& id, Manifest::Kind kind) {
    Package result;
    result.id = id;
    result.directory = root_.path() / id;
    fs::create_directories(result.directory);
    result.manifest.emplace();
    result.manifest->id = id;
    result.manifest->kind = kind;
    return result;
  }

  Package torch_package(const std::string& version) {
    Package torch = package("torch-cpu", Manifest::Kind::kTorch);
    torch.manifest->torch = {TorchSource::Kind::kDirectory, "lib"};
    torch.manifest->torch_version = version;
    torch.manifest->preload = {"lib/libc10.so", "lib/libtorch_cpu.so"};
    for (const char* name : {"lib/libc10.so", "lib/libtorch_cpu.so"}) test::write_file(torch.directory / name, "x");
    return torch;
  }

  std::string problem(const std::vector<Package>& packages) {
    return resolve_torch(plugin_, packages, options_).problem;
  }

  test::TemporaryDirectory root_;
  Package plugin_;
  TorchOptions options_{std::nullopt, {}};
};

TEST_F(Torch, OfAnotherPackageComesFirstThenThePluginsOwn) {
  plugin_.manifest->preload = {"libvendor.so"};
  test::write_file(plugin_.directory / "libvendor.so", "x");
  const TorchRuntime torch = resolve_torch(plugin_, {torch_package("2.11.1+cpu")}, options_);
  const fs::path lib = root_.path() / "torch-cpu/lib";
  EXPECT_EQ(torch.version, "2.11.1+cpu");
  EXPECT_EQ(torch.directory, lib);
  EXPECT_THAT(torch.preload,
              ElementsAre(lib / "libc10.so", lib / "libtorch_cpu.so", plugin_.directory / "libvendor.so"));
}

TEST_F(Torch, OfAPackageThatIsMissingOrOfAnotherVersionOrKind) {
  EXPECT_THAT(problem({}), AllOf(HasSubstr("torch-cpu"), HasSubstr("not installed")));
  EXPECT_THAT(problem({torch_package("2.10.0")}), AllOf(HasSubstr("2.11.0"), HasSubstr("2.10.0")));
  EXPECT_THAT(problem({package("torch-cpu", Manifest::Kind::kPlugin)}), HasSubstr("not of kind torch"));
  Package shadowed = torch_package("2.11.0");
  shadowed.shadowed_by = "/elsewhere";
  EXPECT_THAT(problem({shadowed}), HasSubstr("not installed"));
}

TEST_F(Torch, WithAMissingLibraryIsNamed) {
  const Package torch = torch_package("2.11.0");
  fs::remove(torch.directory / "lib/libc10.so");
  EXPECT_THAT(problem({torch}), HasSubstr("lib/libc10.so"));
}

TEST(TrainerLibrary, IsTheOneOfTheTorchVersionOrNamesWhatIsThere) {
  const test::TemporaryDirectory root;
  const fs::path library = root.path() / "lerobot/trainer/2.10/liblerobot_trainer.so";
  test::write_file(library, "x");
  TorchRuntime torch;
  torch.version = "2.10.2+rocm";
  EXPECT_EQ(trainer_library(root.path(), torch), library);
  torch.version = "2.11.0";
  EXPECT_THAT([&] { trainer_library(root.path(), torch); },
              testing::ThrowsMessage<Error>(HasSubstr("scripts/build-for-torch 2.11")));
  torch.directory = "/opt/torch/lib";
  torch.external = true;
  EXPECT_THAT([&] { trainer_library(root.path(), torch); },
              testing::ThrowsMessage<Error>(AllOf(HasSubstr("torch 2.11"), HasSubstr("installed: 2.10"),
                                                  HasSubstr("scripts/build-for-torch /opt/torch/lib"))));
}

TEST(TorchVersion, IsReadFromTheAbiNumber) {
  EXPECT_EQ(torch_version_text(0x020b000000000000), "2.11.0");
}

}  // namespace
}  // namespace lerobot::accel
