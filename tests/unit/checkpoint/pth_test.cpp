#include "host/checkpoint/pth_file.h"

#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <cstring>
#include <random>

#include "host/checkpoint/backbone_weights.h"
#include "host/checkpoint/tensor_file.h"
#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Pth : public CheckpointTest {
 protected:
  std::string verdict(const std::string& bytes) {
    rewrite(scratch() / "w.pth", bytes);
    try {
      load_backbone_weights(scratch() / "w.pth");
      return "read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      EXPECT_THAT(error.what(), HasSubstr("w.pth"));
      return error.what();
    }
  }
  static std::string fixture(const char* name) { return read_text(data("weights") / name, ErrorKind::kIo); }
};

TEST_F(Pth, ReadsWhatTorchSavesInBothFormats) {
  for (const char* name : {"small.pth", "small_legacy.pth"}) {
    const Tensors tensors = load_backbone_weights(data("weights") / name);
    const auto& get = [&](const char* key) { return *tensors.find(key); };
    EXPECT_EQ(tensors.size(), 14U);
    EXPECT_EQ(tensors.begin()->first, "weight");
    EXPECT_EQ(get("weight")[1].item<float>(), -2.5F);
    EXPECT_EQ(get("running_var").sum().item<float>(), 2.0F);
    EXPECT_EQ(get("num_batches_tracked").scalar_type(), at::kLong);
    EXPECT_EQ(get("num_batches_tracked").dim(), 0);
    EXPECT_TRUE(get("grid").equal(at::arange(6, at::kFloat).reshape({2, 3}).t()));
    EXPECT_TRUE(get("first").equal(at::arange(2, at::kInt)));
    EXPECT_TRUE(get("rest").equal(at::arange(2, 8, at::kInt)));
    EXPECT_EQ(get("half").scalar_type(), at::kHalf);
    EXPECT_EQ(get("half")[1].item<float>(), -1.0F);
    EXPECT_EQ(get("brain").item<float>(), 3.0F);
    EXPECT_EQ(get("scalar").item<double>(), 7.25);
    EXPECT_EQ(get("mask").sum().item<std::int64_t>(), 2);
    EXPECT_EQ(get("empty").sizes(), (std::vector<std::int64_t>{0, 4}));
    EXPECT_EQ(get("parameter").item<float>(), 9.0F);
  }
}

TEST_F(Pth, RefusesWhatIsNotADictOfTensors) {
  EXPECT_THAT(verdict(fixture("whole_module.pth")), HasSubstr("torch.nn.modules.linear.Linear"));
  EXPECT_THAT(verdict(fixture("nested.pth")), HasSubstr("model is not a tensor"));
  EXPECT_THAT(verdict(""), HasSubstr("not a file of torch.save (0 bytes)"));
  EXPECT_THAT(verdict("PK\3\4"), HasSubstr("not a whole zip archive"));
  EXPECT_THAT(verdict("<html>404</html>"), HasSubstr("not a file of torch.save"));
}

/// Runs one pickle that is not from torch.
std::string pickled(const std::string& ops) {
  try {
    pickle::read(std::as_bytes(std::span(ops)), "w.pth", kSaveStateDict);
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_F(Pth, NothingIsEverCalled) {
  EXPECT_THAT(pickled("cos\nsystem\n(X\4\0\0\0trueetR."), HasSubstr("w.pth: "));
  const std::string argument("X\4\0\0\0true", 9);
  EXPECT_THAT(pickled("cos\nsystem\n" + argument + "\x85R."), HasSubstr("calls os.system with 1 arguments"));
  EXPECT_THAT(pickled("cbuiltins\neval\n" + argument + "\x85R."), HasSubstr("builtins.eval"));
  EXPECT_THAT(pickled("(S'ls'\nios\nsystem\n."), HasSubstr("opcode 0x53"));
  EXPECT_THAT(pickled("cos\nsystem\n)\x81."), HasSubstr("makes an object of os.system"));
}

TEST_F(Pth, BrokenPicklesAreRefused) {
  EXPECT_THAT(pickled(""), HasSubstr("ends too early"));
  EXPECT_THAT(pickled("."), HasSubstr("takes a value that is not there"));
  EXPECT_THAT(pickled("t."), HasSubstr("lacks a mark"));
  EXPECT_THAT(pickled("Nr\xff\xff\xff\xff."), HasSubstr("comes too soon"));
  EXPECT_THAT(pickled("h\7."), HasSubstr("memo entry 7 was never set"));
  EXPECT_THAT(pickled("X\xff\xff\xff\xff."), HasSubstr("ends too early"));
  EXPECT_THAT(pickled("\x80\x09N."), HasSubstr("protocol 9"));
  EXPECT_THAT(pickled("]NNs."), HasSubstr("not of the type expected"));
  EXPECT_THAT(pickled("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a."),
              "read");  // a list inside itself
}

TEST_F(Pth, TensorsOutsideTheirStorageAreRefused) {
  // The shape (2,) of `weight` is the first K\2\x85: make it three.
  std::string bytes = fixture("small.pth");
  const std::size_t at = bytes.find("K\2\x85");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = '\3';
  EXPECT_THAT(verdict(bytes), HasSubstr("outside its storage"));
}

TEST_F(Pth, FilesCutAnywhereAreRefused) {
  for (const char* name : {"small.pth", "small_legacy.pth"}) {
    const std::string whole = fixture(name);
    for (std::size_t size = 0; size < whole.size(); size += 7)
      EXPECT_NE(verdict(whole.substr(0, size)), "read") << size;
  }
}

TEST_F(Pth, NoMutationOfAFileIsACrash) {
  std::mt19937 random(3);
  const MemoryFile file;
  int refused = 0;
  for (const char* name : {"small.pth", "small_legacy.pth"}) {
    const std::string whole = fixture(name);
    for (int round = 0; round < 20'000; ++round) {
      std::string bytes = whole;
      for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
        const std::size_t at = random() % bytes.size();
        if (random() % 3 == 0) {
          bytes.erase(at, 1 + random() % 3);
        } else {
          bytes[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
        }
      }
      file.set(bytes);
      try {
        load_backbone_weights(file.path());
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 10'000);
}

class BackboneFile : public CheckpointTest {
 protected:
  BackboneFile() {
    ::setenv("TORCH_HOME", (scratch() / "torch").c_str(), 1);
    fs::create_directories(scratch() / "torch/hub/checkpoints");
  }
  ~BackboneFile() override { ::unsetenv("TORCH_HOME"); }
};

TEST_F(BackboneFile, TorchvisionsNameIsAFileInItsCache) {
  EXPECT_EQ(find_backbone_file(std::nullopt, "resnet18"), std::nullopt);
  const fs::path expected = scratch() / "torch/hub/checkpoints/resnet18-f37072fd.pth";
  EXPECT_THAT(
      [] { find_backbone_file("ResNet18_Weights.IMAGENET1K_V1", "resnet18"); },
      ThrowsMessage<Error>(AllOf(HasSubstr(expected.string()), HasSubstr("--policy.pretrained_backbone_weights=null"),
                                 HasSubstr(".safetensors"))));
  write_durable(expected, "x");
  for (const char* name : {"ResNet18_Weights.IMAGENET1K_V1", "ResNet18_Weights.DEFAULT", "IMAGENET1K_V1"}) {
    EXPECT_EQ(find_backbone_file(name, "resnet18"), expected);
  }
  EXPECT_THAT([] { find_backbone_file("ResNet34_Weights.IMAGENET1K_V1", "resnet18"); },
              ThrowsMessage<Error>(HasSubstr("ResNet18_Weights.IMAGENET1K_V1, a path, or null")));
  EXPECT_THAT([] { find_backbone_file("ResNet50_Weights.IMAGENET1K_V1", "resnet50"); },
              ThrowsMessage<Error>(HasSubstr("no weights of that name are known for resnet50")));
}

TEST_F(BackboneFile, WithoutTorchHomeTheCacheFolderIsUsed) {
  ::unsetenv("TORCH_HOME");
  ::setenv("XDG_CACHE_HOME", scratch().c_str(), 1);
  EXPECT_THAT([] { find_backbone_file("DEFAULT", "resnet34"); },
              ThrowsMessage<Error>(HasSubstr((scratch() / "torch/hub/checkpoints/resnet34-b627a593.pth").string())));
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(BackboneFile, APathIsTakenAsItIs) {
  const fs::path path = scratch() / "mine.safetensors";
  EXPECT_THAT([&] { find_backbone_file(path.string(), "resnet18"); },
              ThrowsMessage<Error>(HasSubstr("mine.safetensors: no such file")));
  write_tensors(path, {{"conv1.weight", at::arange(4, at::kFloat)}});
  EXPECT_EQ(find_backbone_file(path.string(), "resnet18"), path);
  EXPECT_EQ(load_backbone_weights(path).size(), 1U);
}

}  // namespace
}  // namespace lerobot::checkpoint
