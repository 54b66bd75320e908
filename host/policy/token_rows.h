#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lerobot::policy {

/// The tokens of a batch (S, B, D) that are computed, as one matrix (T, 1, D) in the order of S, then of B: padding
/// that cannot influence the result is left out of everything that works on single tokens. By default all tokens are
/// there, and each function gives back what it gets.
class TokenRows {
 public:
  TokenRows() = default;
  /// is_left_out (B, S), bool, on the CPU. Where it leaves out nothing, or everything, all tokens are there.
  explicit TokenRows(const at::Tensor& is_left_out);

  bool are_all() const { return !rows_.defined(); }

  /// (S, B, D) or, alike for the whole batch, (S, 1, D), to (T, 1, D).
  at::Tensor pack(const at::Tensor& tokens) const;
  /// (S' * B, D) to the first n of the rows, (n, D), which are the tokens of the first S' places.
  at::Tensor pack_matrix(const at::Tensor& tokens, std::int64_t n) const;
  /// (n, 1, D), the first n of the rows, back to (S', B, D), with zeros for what is left out.
  at::Tensor spread(const at::Tensor& rows) const;

 private:
  at::Tensor rows_;  ///< (T) indices s * B + b
  std::int64_t length_ = 0, batch_ = 0;
};

}  // namespace lerobot::policy
