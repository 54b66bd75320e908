#pragma once

#include <ATen/core/Tensor.h>

#include <boost/json/object.hpp>
#include <string>

#include "host/base/ordered_map.h"
#include "host/policy/act.h"

namespace lerobot::policy::golden {

/// tests/data/<path> as tensors.
OrderedMap<at::Tensor> tensors(const std::string& path);

/// A folder of tests/data/goldens: one fixed batch through a small ACT (tests/data/README.md).
class Golden {
 public:
  explicit Golden(const std::string& name);

  const boost::json::object& about() const { return about_; }
  OrderedMap<at::Tensor> file(const std::string& name) const;
  /// The batch as the preprocessor gave it to the policy.
  Batch batch() const;
  /// The configuration of policy_config.json: width 64, chunk 10, no dropout.
  config::ActConfig config() const;
  /// A policy with the golden's initial state, whose noise is the recorded one.
  std::unique_ptr<Policy> policy(const config::ActConfig& config, Kernels kernels = Kernels::kReference) const;

 private:
  std::string folder_;
  boost::json::object about_;
};

/// The elements of a tensor that the golden file keeps of it: all, or flatten()[::stride][:512].
at::Tensor kept(const at::Tensor& tensor, const boost::json::object& note);

/// |a - b| / |b|, Euclidean, in double precision; 0 for two zeros.
double relative_difference(const at::Tensor& a, const at::Tensor& b);
double largest_difference(const at::Tensor& a, const at::Tensor& b);
double norm(const at::Tensor& tensor);

}  // namespace lerobot::policy::golden
