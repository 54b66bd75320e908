#pragma once

#include <cstdint>

// The transforms of a 3x3 convolution with stride 1 and padding 1 over tiles of 2x2 pixels: Winograd's F(2x2, 3x3),
// after Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015). A tile takes 16 products for each
// pair of channels where the direct sum takes 36.

namespace lerobot::kernels {

/// Numbers that stand for a tile, each a matrix product of its own.
constexpr std::int64_t kWinogradPlanes = 16;

/// A feature map in memory as pixels of `channels` floats, and its tiles, image after image, row after row. The last
/// tile of a row or column of odd length hangs over the edge.
struct TiledMap {
  std::int64_t height, width, channels;

  std::int64_t tiles_in_row() const { return (width + 1) / 2; }
  std::int64_t tiles_in_image() const { return (height + 1) / 2 * tiles_in_row(); }
};

/// A part of the tiles in planes: plane p, tile t, channel c at data[p * plane + (t - first) * channels + c].
struct TilePlanes {
  float* data;
  std::int64_t plane;  ///< floats from one plane to the next
  std::int64_t first;  ///< tile at its beginning
};

/// B^T d B of the 4x4 pixels around each tile in [begin, end), with zeros around the image.
void winograd_input(const float* map, const TiledMap& shape, std::int64_t begin, std::int64_t end,
                    const TilePlanes& planes);

/// A^T m A: the pixels of each tile.
void winograd_output(const TilePlanes& planes, const TiledMap& shape, std::int64_t begin, std::int64_t end, float* map);

/// A y A^T: the gradient of the planes from that of the pixels.
void winograd_output_gradient(const float* map, const TiledMap& shape, std::int64_t begin, std::int64_t end,
                              const TilePlanes& planes);

/// G w G^T of the pairs of channels in [begin, end): weights[9 pair + i] to planes[p * pairs + pair].
void winograd_weights(const float* weights, std::int64_t pairs, std::int64_t begin, std::int64_t end, float* planes);

/// G^T p G: the gradient of the weights from that of their planes.
void winograd_weights_gradient(const float* planes, std::int64_t pairs, std::int64_t begin, std::int64_t end,
                               float* weights);

}  // namespace lerobot::kernels
