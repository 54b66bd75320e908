#include "host/checkpoint/backbone_weights.h"

#include <algorithm>
#include <array>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/checkpoint/pth_tensors.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSafetensors = ".safetensors";

/// torchvision's names; DEFAULT stands for the newest, which for these is the only one.
struct KnownWeights {
  std::string_view backbone;
  std::string_view enumeration;
  std::string_view file;
};
constexpr std::array<KnownWeights, 2> kKnown{{{"resnet18", "ResNet18_Weights.", "resnet18-f37072fd.pth"},
                                              {"resnet34", "ResNet34_Weights.", "resnet34-b627a593.pth"}}};
constexpr std::array<std::string_view, 2> kMembers{"IMAGENET1K_V1", "DEFAULT"};

bool is_file_name(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".pth") || text.ends_with(".pt") ||
         text.ends_with(kSafetensors);
}

fs::path expand_home(const std::string& path) {
  if (!path.starts_with("~")) return path;
  return environment("HOME").value_or("") + path.substr(1);
}

fs::path torch_hub_checkpoints() {
  const std::string cache = environment("XDG_CACHE_HOME").value_or("~/.cache");
  return expand_home(environment("TORCH_HOME").value_or(cache + "/torch")) / "hub" / "checkpoints";
}

[[noreturn]] void fail_missing(const fs::path& file, const std::string& weights) {
  fail(ErrorKind::kIo,
       "{}: no such file (--policy.pretrained_backbone_weights={}). Put it there, or give the path of a .pth or "
       ".safetensors file, or train without: --policy.pretrained_backbone_weights=null.",
       file.string(), weights);
}

}  // namespace

std::optional<fs::path> find_backbone_file(const std::optional<std::string>& weights,
                                           std::string_view vision_backbone) {
  if (!weights) return std::nullopt;
  fs::path file;
  if (is_file_name(*weights)) {
    file = expand_home(*weights);
  } else {
    const auto known =
        std::find_if(kKnown.begin(), kKnown.end(), [&](const auto& row) { return row.backbone == vision_backbone; });
    if (known == kKnown.end()) {
      fail(ErrorKind::kConfig,
           "--policy.pretrained_backbone_weights={}: no weights of that name are known for {}. Give the path of a .pth "
           "or "
           ".safetensors file, or null.",
           *weights, vision_backbone);
    }
    std::string_view member = *weights;
    if (member.starts_with(known->enumeration)) member.remove_prefix(known->enumeration.size());
    if (std::find(kMembers.begin(), kMembers.end(), member) == kMembers.end()) {
      fail(ErrorKind::kConfig, "--policy.pretrained_backbone_weights={}: {} has {}{}, a path, or null", *weights,
           vision_backbone, known->enumeration, kMembers[0]);
    }
    file = torch_hub_checkpoints() / known->file;
  }
  std::error_code ec;
  if (!fs::is_regular_file(file, ec)) fail_missing(file, *weights);
  return file;
}

Tensors load_backbone_weights(const fs::path& path) {
  if (path.extension() == kSafetensors) return read_tensors(path);
  const PthFile file(path);
  PthTensors tensors(file);
  Tensors out;
  for (const auto& [name, tensor] : file.tensors()) out.append(name, tensors.get(tensor, name));
  return out;
}

}  // namespace lerobot::checkpoint
