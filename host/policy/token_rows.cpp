#include "host/policy/token_rows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/nonzero.h>

#include "host/fused/row_selection.h"

namespace lerobot::policy {

TokenRows::TokenRows(const at::Tensor& is_left_out) : length_(is_left_out.size(1)), batch_(is_left_out.size(0)) {
  const at::Tensor rows = at::nonzero(is_left_out.t().reshape({-1}).logical_not()).squeeze(1);
  if (rows.numel() > 0 && rows.numel() < is_left_out.numel()) rows_ = rows;
}

at::Tensor TokenRows::pack(const at::Tensor& tokens) const {
  if (are_all()) return tokens;
  const std::int64_t width = tokens.size(2);
  const at::Tensor matrix = tokens.expand({length_, batch_, width}).reshape({-1, width});
  return pack_matrix(matrix, rows_.numel()).unsqueeze(1);
}

at::Tensor TokenRows::pack_matrix(const at::Tensor& tokens, std::int64_t n) const {
  return are_all() ? tokens : fused::take_rows(tokens, rows_.narrow(0, 0, n));
}

at::Tensor TokenRows::spread(const at::Tensor& rows) const {
  if (are_all()) return rows;
  const std::int64_t n = rows.size(0), length = n == rows_.numel() ? length_ : n / batch_;
  return fused::put_rows(rows.squeeze(1), rows_.narrow(0, 0, n), length * batch_).view({length, batch_, rows.size(2)});
}

}  // namespace lerobot::policy
