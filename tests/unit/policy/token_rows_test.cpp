#include "host/policy/token_rows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace lerobot::policy {
namespace {

/// Two sequences of 3 tokens: the last of the first one and the last two of the second are left out.
at::Tensor left_out() {
  return at::tensor({0, 0, 1, 0, 1, 1}).to(at::kBool).view({2, 3});
}

TEST(TokenRows, AreThoseThatAreNotLeftOutPlaceByPlace) {
  const TokenRows rows(left_out());
  ASSERT_FALSE(rows.are_all());
  const at::Tensor tokens = at::arange(12, at::kFloat).view({3, 2, 2});  // token s of b is 4 s + 2 b, and one more
  const at::Tensor packed = rows.pack(tokens);
  EXPECT_TRUE(packed.equal(at::tensor({0, 1, 2, 3, 4, 5}, at::kFloat).view({3, 1, 2})));
  const at::Tensor back = rows.spread(packed);
  EXPECT_TRUE(back.equal(at::tensor({0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0}, at::kFloat).view({3, 2, 2})));
}

TEST(TokenRows, OfPositionsThatAllSequencesShareAreRepeated) {
  const TokenRows rows(left_out());
  EXPECT_TRUE(rows.pack(at::tensor({5, 6, 7}, at::kFloat).view({3, 1, 1}))
                  .equal(at::tensor({5, 5, 6}, at::kFloat).view({3, 1, 1})));
}

TEST(TokenRows, OfTheFirstPlaceGoBackAlone) {
  const TokenRows rows(left_out());
  const at::Tensor first = at::randn({2, 1, 4});
  EXPECT_TRUE(rows.spread(first).equal(first.view({1, 2, 4})));
  EXPECT_TRUE(rows.pack_matrix(first.view({2, 4}), 2).equal(first.view({2, 4})));
}

TEST(TokenRows, WhereNothingOrEverythingIsLeftOutAreAllOfThem) {
  const at::Tensor tokens = at::randn({3, 2, 4});
  for (const TokenRows& rows :
       {TokenRows(), TokenRows(at::zeros({2, 3}, at::kBool)), TokenRows(at::ones({2, 3}, at::kBool))}) {
    EXPECT_TRUE(rows.are_all());
    EXPECT_TRUE(rows.pack(tokens).is_same(tokens));
    EXPECT_TRUE(rows.spread(tokens).is_same(tokens));
  }
}

TEST(TokenRows, GradientsGoTheWayBack) {
  const TokenRows rows(left_out());
  at::Tensor tokens = at::randn({3, 2, 4}).requires_grad_();
  const at::Tensor weights = at::randn({3, 1, 4});
  (rows.pack(tokens) * weights).sum().backward();
  EXPECT_TRUE(tokens.grad().equal(rows.spread(weights)));
  at::Tensor packed = at::randn({3, 1, 4}).requires_grad_();
  const at::Tensor all_weights = at::randn({3, 2, 4});
  (rows.spread(packed) * all_weights).sum().backward();
  EXPECT_TRUE(packed.grad().equal(rows.pack(all_weights)));
}

}  // namespace
}  // namespace lerobot::policy
