#include "host/fused/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "host/fused/parallel.h"

namespace lerobot::fused {
namespace {

/// A part of a tensor.
struct Piece {
  std::size_t tensor;
  std::int64_t begin, count;
};

/// Cuts tensors of these sizes into pieces of about the same work.
std::vector<Piece> pieces(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kElements = 1 << 15;
  std::vector<Piece> all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::int64_t begin = 0; begin < sizes[i]; begin += kElements)
      all.push_back({i, begin, std::min(kElements, sizes[i] - begin)});
  }
  return all;
}

template <class Tensors, class Size>
std::vector<std::int64_t> sizes_of(const Tensors& tensors, const Size& size) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(tensors.size());
  for (const auto& tensor : tensors) sizes.push_back(size(tensor));
  return sizes;
}

std::int64_t elements(const at::Tensor& tensor) {
  return tensor.numel();
}

/// body(i, piece) for each piece.
template <class Body>
void over_pieces(const std::vector<Piece>& all, const Body& body) {
  parallel_for(static_cast<std::int64_t>(all.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(static_cast<std::size_t>(i), all[i]);
  });
}

}  // namespace

double norm(const std::vector<at::Tensor>& tensors) {
  const std::vector<Piece> all = pieces(sizes_of(tensors, elements));
  std::vector<double> sums(all.size());
  over_pieces(all, [&](std::size_t i, const Piece& piece) {
    sums[i] = kernels::sum_of_squares(tensors[piece.tensor].const_data_ptr<float>() + piece.begin, piece.count);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

void adam(std::vector<AdamTensors>& all) {
  const auto size = [](const AdamTensors& each) { return each.parameter.numel(); };
  over_pieces(pieces(sizes_of(all, size)), [&](std::size_t, const Piece& piece) {
    AdamTensors& each = all[piece.tensor];
    kernels::adam(each.parameter.mutable_data_ptr<float>() + piece.begin,
                  each.gradient.const_data_ptr<float>() + piece.begin,
                  each.exp_avg.mutable_data_ptr<float>() + piece.begin,
                  each.exp_avg_sq.mutable_data_ptr<float>() + piece.begin, piece.count, each.step);
  });
}

void move_averages(const std::vector<at::Tensor>& averages, const std::vector<at::Tensor>& values, float weight) {
  over_pieces(pieces(sizes_of(averages, elements)), [&](std::size_t, const Piece& piece) {
    kernels::move_average(averages[piece.tensor].mutable_data_ptr<float>() + piece.begin,
                          values[piece.tensor].const_data_ptr<float>() + piece.begin, weight, piece.count);
  });
}

}  // namespace lerobot::fused
