#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "host/base/safetensors.h"

namespace lerobot::data {

/// The frames of one camera in one sample: (frames, channels, height, width), contiguous, uint8 or float32 in [0, 1].
struct Images {
  DType dtype = DType::kUInt8;
  std::int64_t frames = 1, channels = 3, height = 0, width = 0;
  std::byte* data = nullptr;

  std::int64_t plane() const { return height * width; }
  std::int64_t planes() const { return frames * channels; }
};

// Operations with their parameters drawn, named as torchvision's functional ones. Colours need 1 or 3 channels.

struct Brightness {
  float factor = 1;
};
struct Contrast {
  float factor = 1;
};
struct Saturation {
  float factor = 1;
};
struct Hue {
  float shift = 0;  ///< of a whole turn, -0.5 to 0.5
};
struct Sharpness {
  float factor = 1;
};
/// About the centre, nearest neighbour; what lies outside becomes `fill` (of 255 for bytes, of 1 for floats).
struct Affine {
  double degrees = 0;
  std::int64_t dx = 0, dy = 0;  ///< pixels
  double scale = 1;
  double shear_x = 0, shear_y = 0;  ///< degrees
  float fill = 0;
};

// LeRobot's own. They change floats only, which is what images stored in parquet come as: bytes stay as they are.

struct GaussianNoise {
  float deviation = 0;
  std::uint64_t seed = 0;
};
struct MotionBlur {
  std::int64_t size = 3;  ///< odd
  float degrees = 0;
};
struct BrightPatches {
  struct Patch {
    float y = 0, x = 0, sigma = 0.1F;  ///< of the image's height and width
    float factor = 1;                  ///< at the centre
  };
  std::vector<Patch> patches;
};
struct Shadow {
  float opacity = 0;  ///< above 0 brightens
  float start = 0, width = 0.5F;
};
struct Holes {
  struct Hole {
    float height = 0, width = 0, y = 0, x = 0;  ///< of the image's, and of the room that is left
  };
  std::vector<Hole> holes;
  float fill = 0;
};
struct Gamma {
  double gamma = 1;
};
struct ColorTemperature {
  std::int64_t kelvin = 6500;  ///< 3000 to 15000
};

using ImageOp = std::variant<Brightness, Contrast, Saturation, Hue, Sharpness, Affine, GaussianNoise, MotionBlur,
                             BrightPatches, Shadow, Holes, Gamma, ColorTemperature>;

/// Changes the images in place. Bytes: brightness, contrast, saturation, hue, sharpness and affine give torchvision's
/// bytes; contrast of frames above 65793 pixels may be one level off where torchvision's sum in float32 is rounded.
/// Floats: within 2e-6. On a processor without fused products (before AVX2) torchvision itself differs by one level in
/// places.
void apply(const ImageOp& op, const Images& images);

// What `apply` calls, by the source that has it.
void change(const Brightness& op, const Images& images);
void change(const Contrast& op, const Images& images);
void change(const Saturation& op, const Images& images);
void change(const Hue& op, const Images& images);
void change(const Sharpness& op, const Images& images);
void change(const Affine& op, const Images& images);
void change(const GaussianNoise& op, const Images& images);
void change(const MotionBlur& op, const Images& images);
void change(const BrightPatches& op, const Images& images);
void change(const Shadow& op, const Images& images);
void change(const Holes& op, const Images& images);
void change(const Gamma& op, const Images& images);
void change(const ColorTemperature& op, const Images& images);

}  // namespace lerobot::data
