#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "host/checkpoint/checkpoint.h"

namespace lerobot::checkpoint {

/// The file that --policy.pretrained_backbone_weights means: nothing when it is not set; a local `.pth`, `.pt` or
/// `.safetensors` file; or a torchvision name (ResNet18_Weights.IMAGENET1K_V1, or without the class) for the file that
/// torchvision keeps in $TORCH_HOME/hub/checkpoints. Throws Error(kConfig) for a name that does not fit
/// `vision_backbone` (resnet18, resnet34), and Error(kIo) naming the file looked for and the cures when it is not
/// there.
std::optional<std::filesystem::path> find_backbone_file(const std::optional<std::string>& weights,
                                                        std::string_view vision_backbone);

/// All tensors of a `.safetensors`, `.pth` or `.pt` file, by the names in the file (conv1.weight, layer1.0.bn1.bias,
/// ...). Throws Error(kCheckpoint).
Tensors load_backbone_weights(const std::filesystem::path& path);

}  // namespace lerobot::checkpoint
