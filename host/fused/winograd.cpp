#include "host/fused/winograd.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include "host/fused/parallel.h"
#include "host/kernels/winograd.h"

namespace lerobot::fused {
namespace {

using kernels::kWinogradPlanes;
using kernels::TiledMap;
using kernels::TilePlanes;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Floats of a chunk of tiles: what is transformed is multiplied while it is in the cache.
constexpr std::int64_t kChunkFloats = 1 << 20;

/// (16, O, C) of weights (O, C, 3, 3).
at::Tensor weight_planes(const at::Tensor& any_weight) {
  const at::Tensor weight = any_weight.contiguous();
  const std::int64_t out = weight.size(0), in = weight.size(1), pairs = out * in;
  at::Tensor planes = at::empty({kWinogradPlanes, out, in}, weight.options());
  parallel_for(pairs, grain_of(kWinogradPlanes), [&](std::int64_t begin, std::int64_t end) {
    kernels::winograd_weights(weight.const_data_ptr<float>(), pairs, begin, end, planes.mutable_data_ptr<float>());
  });
  return planes;
}

/// (O, C, 3, 3) of the gradient of (16, O, C).
at::Tensor weight_gradient(const at::Tensor& planes) {
  const std::int64_t out = planes.size(1), in = planes.size(2), pairs = out * in;
  at::Tensor gradient = at::empty({out, in, 3, 3}, planes.options());
  parallel_for(pairs, grain_of(kWinogradPlanes), [&](std::int64_t begin, std::int64_t end) {
    kernels::winograd_weights_gradient(planes.const_data_ptr<float>(), pairs, begin, end,
                                       gradient.mutable_data_ptr<float>());
  });
  return gradient;
}

/// The planes of the weights turned by 180 degrees: those of rows and columns 0 and 3 change places.
at::Tensor turned(const at::Tensor& planes) {
  const at::Tensor order = at::tensor({15, 13, 14, 12, 7, 5, 6, 4, 11, 9, 10, 8, 3, 1, 2, 0});
  return planes.index_select(0, order);
}

/// A map with channels last, and its tiles.
struct Tiled {
  explicit Tiled(const at::Tensor& map)
      : shape{.height = map.size(2), .width = map.size(3), .channels = map.size(1)},
        count(map.size(0) * shape.tiles_in_image()) {}
  TiledMap shape;
  std::int64_t count;
};

/// Room for the planes of a chunk.
struct Chunk {
  Chunk(std::int64_t tiles, std::int64_t width) : room(at::empty({kWinogradPlanes * tiles * width})), channels(width) {}

  /// (16, tiles, channels).
  at::Tensor planes(std::int64_t tiles) const {
    return room.narrow(0, 0, kWinogradPlanes * tiles * channels).view({kWinogradPlanes, tiles, channels});
  }
  at::Tensor room;
  std::int64_t channels;
};

/// body(begin, end, planes) for parts of the tiles of a chunk.
template <class Body>
void transform(const at::Tensor& planes, std::int64_t first, const Body& body) {
  const std::int64_t tiles = planes.size(1), plane = planes.stride(0);
  float* data = planes.mutable_data_ptr<float>();
  parallel_for(tiles, grain_of(plane / tiles * kWinogradPlanes), [&](std::int64_t begin, std::int64_t end) {
    body(first + begin, first + end, TilePlanes{.data = data, .plane = plane, .first = first});
  });
}

/// body(first tile, tiles) for chunks of all tiles.
template <class Body>
void for_chunks(std::int64_t tiles, std::int64_t of_chunk, const Body& body) {
  for (std::int64_t first = 0; first < tiles; first += of_chunk) body(first, std::min(of_chunk, tiles - first));
}

/// At least as many tiles as channels: the weights, read anew for each chunk, are not more than the tiles then.
std::int64_t tiles_of_chunk(const Tiled& map, std::int64_t channels) {
  return std::min(std::max(kChunkFloats / (kWinogradPlanes * channels), channels), map.count);
}

void transform_input(const at::Tensor& x, const Tiled& map, const at::Tensor& planes, std::int64_t first) {
  transform(planes, first,
            [&, from = x.const_data_ptr<float>()](std::int64_t begin, std::int64_t end, const TilePlanes& to) {
              kernels::winograd_input(from, map.shape, begin, end, to);
            });
}

/// x (B, C, H, W) with channels last and weights (16, C, O): their convolution, (B, O, H, W).
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weights) {
  const std::int64_t in = x.size(1), out = weights.size(2);
  at::Tensor y = at::empty({x.size(0), out, x.size(2), x.size(3)}, x.options(), at::MemoryFormat::ChannelsLast);
  const Tiled from(x), to(y);
  const std::int64_t of_chunk = tiles_of_chunk(from, std::max(in, out));
  const Chunk input(of_chunk, in), output(of_chunk, out);
  for_chunks(from.count, of_chunk, [&](std::int64_t first, std::int64_t tiles) {
    const at::Tensor v = input.planes(tiles);
    at::Tensor m = output.planes(tiles);
    transform_input(x, from, v, first);
    at::bmm_out(m, v, weights);
    transform(
        m, first,
        [&, pixels = y.mutable_data_ptr<float>()](std::int64_t begin, std::int64_t end, const TilePlanes& planes) {
          kernels::winograd_output(planes, to.shape, begin, end, pixels);
        });
  });
  return y;
}

/// The gradient of the weights' planes, (16, O, C), from that of the output.
at::Tensor weight_planes_gradient(const at::Tensor& x, const at::Tensor& gradient) {
  const std::int64_t in = x.size(1), out = gradient.size(1);
  const Tiled from(x), to(gradient);
  const std::int64_t of_chunk = tiles_of_chunk(from, std::max(in, out));
  const Chunk input(of_chunk, in), output(of_chunk, out);
  at::Tensor sum = at::empty({kWinogradPlanes, out, in}, x.options());
  for_chunks(from.count, of_chunk, [&](std::int64_t first, std::int64_t tiles) {
    const at::Tensor v = input.planes(tiles), m = output.planes(tiles);
    transform_input(x, from, v, first);
    transform(
        m, first,
        [&, pixels = gradient.const_data_ptr<float>()](std::int64_t begin, std::int64_t end, const TilePlanes& planes) {
          kernels::winograd_output_gradient(pixels, to.shape, begin, end, planes);
        });
    at::baddbmm_out(sum, sum, m.transpose(1, 2), v, /*beta=*/first == 0 ? 0 : 1);
  });
  return sum;
}

struct WinogradConv : torch::autograd::Function<WinogradConv> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_x, const at::Tensor& weight) {
    const at::Tensor x = any_x.contiguous(at::MemoryFormat::ChannelsLast), planes = weight_planes(weight);
    context->save_for_backward({x, planes});
    return convolve(x, planes.transpose(1, 2));
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &planes = saved[1];
    const at::Tensor gradient = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    return {context->needs_input_grad(0) ? convolve(gradient, turned(planes)) : at::Tensor(),
            context->needs_input_grad(1) ? weight_gradient(weight_planes_gradient(x, gradient)) : at::Tensor()};
  }
};

}  // namespace

at::Tensor winograd_conv(const at::Tensor& x, const at::Tensor& weight) {
  return WinogradConv::apply(x, weight);
}

}  // namespace lerobot::fused
