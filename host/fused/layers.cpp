#include "host/fused/layers.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/im2col.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "host/fused/parallel.h"
#include "host/kernels/images.h"
#include "host/kernels/rows.h"

namespace lerobot::fused {
namespace {

using kernels::Rows;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void save_dropout(AutogradContext* context, const Dropout& dropout) {
  context->saved_data["key"] = static_cast<std::int64_t>(dropout.key);
  context->saved_data["site"] = static_cast<std::int64_t>(dropout.site);
  context->saved_data["threshold"] = static_cast<std::int64_t>(dropout.threshold);
  context->saved_data["dropout_scale"] = static_cast<double>(dropout.scale);
}

Dropout saved_dropout(AutogradContext* context) {
  return {.key = static_cast<std::uint64_t>(context->saved_data["key"].toInt()),
          .site = static_cast<std::uint32_t>(context->saved_data["site"].toInt()),
          .threshold = static_cast<std::uint32_t>(context->saved_data["threshold"].toInt()),
          .scale = static_cast<float>(context->saved_data["dropout_scale"].toDouble())};
}

const float* data(const at::Tensor& tensor) {
  return tensor.const_data_ptr<float>();
}
float* mutable_data(at::Tensor& tensor) {
  return tensor.mutable_data_ptr<float>();
}

/// Tensors that may be missing: torch's Function takes them as an optional, never as an undefined tensor.
using Optional = std::optional<at::Tensor>;

Optional optional(const at::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor) : std::nullopt;
}
const float* data_or_null(const Optional& tensor) {
  return tensor ? tensor->const_data_ptr<float>() : nullptr;
}

std::int64_t width_of(const at::Tensor& x) {
  return x.size(-1);
}
std::int64_t rows_of(const at::Tensor& x) {
  return x.numel() / width_of(x);
}

/// (..., D) as a matrix (rows, D) without gaps.
at::Tensor flat(const at::Tensor& x) {
  return x.reshape({-1, width_of(x)}).contiguous();
}
/// Its sizes, but for the last.
std::vector<std::int64_t> sizes_with_width(const at::Tensor& x, std::int64_t width) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = width;
  return sizes;
}

/// body(rows) over all rows of a matrix.
template <class Body>
void over_rows(std::int64_t rows, std::int64_t width, const Body& body) {
  parallel_for(rows, grain_of(width), [&](std::int64_t begin, std::int64_t end) { body(Rows{begin, end, width}); });
}

/// body(rows, sums), where sums is an array (n, width) that the body adds to. Returns the total (n, width). Rows are
/// shared out in a fixed number of parts, so that the total does not depend on the number of threads.
template <class Body>
at::Tensor sum_over_rows(std::int64_t rows, std::int64_t width, std::int64_t n, const Body& body) {
  constexpr std::int64_t kMostParts = 16;
  const std::int64_t part = std::max((rows + kMostParts - 1) / kMostParts, grain_of(width));
  const std::int64_t parts = std::max<std::int64_t>((rows + part - 1) / part, 1);
  at::Tensor sums = at::zeros({parts, n, width}, at::kFloat);
  float* first = mutable_data(sums);
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      body(Rows{p * part, std::min((p + 1) * part, rows), width}, first + p * n * width);
  });
  return parts == 1 ? sums[0] : sums.sum(0);
}

struct Drop : torch::autograd::Function<Drop> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Dropout& dropout) {
    save_dropout(context, dropout);
    return apply_mask(x, dropout);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {apply_mask(gradients[0], saved_dropout(context)), at::Tensor()};
  }
  static at::Tensor apply_mask(const at::Tensor& any, const Dropout& dropout) {
    const at::Tensor x = any.contiguous();
    at::Tensor y = at::empty_like(x);
    over_rows(rows_of(x), width_of(x),
              [&, from = data(x), to = mutable_data(y)](const Rows& rows) { kernels::drop(from, to, rows, dropout); });
    return y;
  }
};

struct FeedForward : torch::autograd::Function<FeedForward> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1,
                            const at::Tensor& w2, const Dropout& dropout) {
    const at::Tensor inputs = flat(x);
    at::Tensor hidden = at::mm(inputs, w1.t());
    over_rows(rows_of(hidden), width_of(hidden),
              [&, h = mutable_data(hidden)](const Rows& rows) { kernels::bias_relu_drop(h, data(b1), rows, dropout); });
    context->save_for_backward({inputs, w1, w2, hidden});
    context->saved_data["dropout_scale"] = static_cast<double>(dropout.scale);
    return at::mm(hidden, w2.t()).view(sizes_with_width(x, w2.size(0)));
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &w1 = saved[1], &w2 = saved[2], &hidden = saved[3];
    const auto scale = static_cast<float>(context->saved_data["dropout_scale"].toDouble());
    const at::Tensor gradient = flat(gradients[0]);
    at::Tensor hidden_gradient = at::mm(gradient, w2);
    // What was dropped or negative is 0 in `hidden`: no mask is needed.
    const at::Tensor bias_gradient =
        sum_over_rows(rows_of(hidden), width_of(hidden), 1,
                      [&, g = mutable_data(hidden_gradient), h = data(hidden)](const Rows& rows, float* sums) {
                        kernels::bias_relu_drop_backward(g, h, sums, rows, scale);
                      });
    at::Tensor x_gradient;
    if (context->needs_input_grad(0))
      x_gradient = at::mm(hidden_gradient, w1).view(sizes_with_width(gradients[0], width_of(x)));
    return {x_gradient, at::mm(hidden_gradient.t(), x), bias_gradient[0], at::mm(gradient.t(), hidden), at::Tensor()};
  }
};

struct AddNorm : torch::autograd::Function<AddNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_skip, const at::Tensor& any_x,
                            const Optional& bias, const at::Tensor& weight, const at::Tensor& shift, double eps,
                            const Dropout& dropout) {
    const at::Tensor skip = any_skip.contiguous(), x = any_x.contiguous();
    at::Tensor sum = at::empty_like(x), y = at::empty_like(x);
    at::Tensor moments = at::empty({2, rows_of(x)}, x.options());
    const kernels::RowMoments out{mutable_data(moments), mutable_data(moments) + rows_of(x)};
    over_rows(rows_of(x), width_of(x), [&, s = mutable_data(sum), to = mutable_data(y)](const Rows& rows) {
      kernels::add_norm(data(skip), data(x), data_or_null(bias), data(weight), data(shift), static_cast<float>(eps), s,
                        to, out, rows, dropout);
    });
    context->save_for_backward({sum, moments, weight});
    context->saved_data["bias"] = bias.has_value();
    save_dropout(context, dropout);
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor &sum = saved[0], &weight = saved[2];
    at::Tensor moments = saved[1];
    const kernels::RowMoments in{mutable_data(moments), mutable_data(moments) + rows_of(sum)};
    const bool has_bias = context->saved_data["bias"].toBool();
    const Dropout dropout = saved_dropout(context);
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor skip_gradient = at::empty_like(sum), x_gradient = at::empty_like(sum);
    const std::int64_t width = width_of(sum);
    const at::Tensor sums = sum_over_rows(
        rows_of(sum), width, 3,
        [&, s = mutable_data(skip_gradient), x = mutable_data(x_gradient)](const Rows& rows, float* totals) {
          kernels::add_norm_backward(data(gradient), data(sum), in, data(weight), s, x, totals, totals + width,
                                     has_bias ? totals + 2 * width : nullptr, rows, dropout);
        });
    return {skip_gradient, x_gradient, has_bias ? sums[2] : at::Tensor(), sums[0], sums[1], at::Tensor(), at::Tensor()};
  }
};

struct InProjection : torch::autograd::Function<InProjection> {
  static tensor_list forward(AutogradContext* context, const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value, const at::Tensor& weight, const at::Tensor& bias) {
    const std::array<at::Tensor, 3> inputs{flat(query), query.is_same(key) ? at::Tensor() : flat(key), flat(value)};
    tensor_list outputs;
    for (int i = 0; i < 3; ++i) {
      const at::Tensor& input = inputs[i].defined() ? inputs[i] : inputs[0];
      const at::Tensor& like = i == 0 ? query : i == 1 ? key : value;
      outputs.push_back(at::addmm(third(bias, i), input, third(weight, i).t()).view(like.sizes()));
    }
    context->save_for_backward({inputs[0], inputs[1], inputs[2], weight});
    return outputs;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor& weight = saved[3];
    at::Tensor weight_gradient = at::empty_like(weight), bias_gradient = at::empty({weight.size(0)}, weight.options());
    std::array<at::Tensor, 3> input_gradients;
    for (int i = 0; i < 3; ++i) {
      const bool as_query = i == 1 && !saved[1].defined();
      const at::Tensor gradient = flat(gradients[i]), &input = as_query ? saved[0] : saved[i];
      at::Tensor of_weight = third(weight_gradient, i);
      at::mm_out(of_weight, gradient.t(), input);
      third(bias_gradient, i)
          .copy_(sum_over_rows(rows_of(gradient), width_of(gradient), 1, [&](const Rows& rows, float* sums) {
            kernels::sum_rows(data(gradient), sums, rows);
          })[0]);
      if (!context->needs_input_grad(i)) continue;
      if (as_query) {
        input_gradients[0].view({-1, width_of(input)}).addmm_(gradient, third(weight, i));
      } else {
        input_gradients[i] = at::mm(gradient, third(weight, i)).view(gradients[i].sizes());
      }
    }
    return {input_gradients[0], input_gradients[1], input_gradients[2], weight_gradient, bias_gradient};
  }
  static at::Tensor third(const at::Tensor& x, std::int64_t i) {
    return x.narrow(0, i * (x.size(0) / 3), x.size(0) / 3);
  }
};

struct AttentionWeights : torch::autograd::Function<AttentionWeights> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& query, const at::Tensor& key,
                            const Optional& mask, double scale, const Dropout& dropout) {
    at::Tensor scores = at::bmm(query, key.transpose(1, 2));
    const std::int64_t length = query.size(1), width = width_of(scores);
    at::Tensor dropped = dropout.threshold > 0 ? at::empty_like(scores) : scores;
    const Optional rows_of_mask = mask ? Optional(mask->contiguous()) : std::nullopt;
    over_rows(rows_of(scores), width, [&, s = mutable_data(scores), d = mutable_data(dropped)](const Rows& rows) {
      kernels::softmax_drop(s, d, static_cast<float>(scale), data_or_null(rows_of_mask), length, rows, dropout);
    });
    context->save_for_backward({query, key, scores});
    context->saved_data["scale"] = scale;
    save_dropout(context, dropout);
    return dropped;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor &query = saved[0], &key = saved[1], &probabilities = saved[2];
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const Dropout dropout = saved_dropout(context);
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor score_gradient = at::empty_like(probabilities);
    over_rows(rows_of(probabilities), width_of(probabilities),
              [&, out = mutable_data(score_gradient)](const Rows& rows) {
                kernels::softmax_drop_backward(data(gradient), data(probabilities), out, scale, rows, dropout);
              });
    return {at::bmm(score_gradient, key), at::bmm(score_gradient.transpose(1, 2), query), at::Tensor(), at::Tensor(),
            at::Tensor()};
  }
};

struct ScaleRelu : torch::autograd::Function<ScaleRelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_x, const at::Tensor& scale,
                            const at::Tensor& shift, const Optional& any_residual) {
    const at::MemoryFormat format = any_x.suggest_memory_format();
    const at::Tensor x = any_x.contiguous(format);
    const Optional residual = any_residual ? Optional(any_residual->contiguous(format)) : std::nullopt;
    at::Tensor y = at::empty_like(x);
    over_map(y, [&, from = data(x), to = mutable_data(y)](const kernels::FeatureMap& map) {
      kernels::scale_relu(from, data(scale), data(shift), data_or_null(residual), to, map);
    });
    context->save_for_backward({y, scale});
    context->saved_data["residual"] = residual.has_value();
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor &y = saved[0], &scale = saved[1];
    const at::Tensor gradient = gradients[0].contiguous(y.suggest_memory_format());
    at::Tensor x_gradient = at::empty_like(y), residual_gradient;
    if (context->saved_data["residual"].toBool()) residual_gradient = at::empty_like(y);
    float* of_residual = residual_gradient.defined() ? mutable_data(residual_gradient) : nullptr;
    over_map(y, [&, of_x = mutable_data(x_gradient)](const kernels::FeatureMap& map) {
      kernels::scale_relu_backward(data(gradient), data(y), data(scale), of_x, of_residual, map);
    });
    return {x_gradient, at::Tensor(), at::Tensor(), residual_gradient};
  }
  /// body(part) over all runs or pixels of a feature map.
  template <class Body>
  static void over_map(const at::Tensor& map, const Body& body) {
    const bool channels_last = map.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
    const std::int64_t channels = map.size(1), length = channels_last ? 1 : map.size(2) * map.size(3);
    const std::int64_t runs = map.numel() / (channels_last ? channels : length);
    parallel_for(runs, grain_of(map.numel() / runs), [&](std::int64_t begin, std::int64_t end) {
      body(kernels::FeatureMap{.begin = begin, .end = end, .channels = channels, .length = length});
    });
  }
};

}  // namespace

at::Tensor drop(const at::Tensor& x, const Dropout& dropout) {
  return dropout.threshold > 0 ? Drop::apply(x, dropout) : x;
}

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        const Dropout& dropout) {
  return FeedForward::apply(x, w1, b1, w2, dropout);
}

at::Tensor add_norm(const at::Tensor& skip, const at::Tensor& x, const at::Tensor& bias, const at::Tensor& weight,
                    const at::Tensor& shift, double eps, const Dropout& dropout) {
  return AddNorm::apply(skip, x, optional(bias), weight, shift, eps, dropout);
}

std::array<at::Tensor, 3> in_projection(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                        const at::Tensor& weight, const at::Tensor& bias) {
  const tensor_list all = InProjection::apply(query, key, value, weight, bias);
  return {all[0], all[1], all[2]};
}

at::Tensor conv_by_product(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride, std::int64_t padding) {
  const std::int64_t batch = x.size(0), out = weight.size(0), k = weight.size(2);
  const std::int64_t height = (x.size(2) + 2 * padding - k) / stride + 1;
  // (B, C k k, pixels), and then all pixels of the batch side by side.
  const at::Tensor patches = at::im2col(x.contiguous(), {k, k}, {1, 1}, {padding, padding}, {stride, stride});
  const at::Tensor columns = patches.permute({1, 0, 2}).reshape({patches.size(1), -1});
  const at::Tensor y = at::mm(weight.view({out, -1}), columns).view({out, batch, height, -1});
  return y.permute({1, 0, 2, 3}).contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor attention_weights(const at::Tensor& query, const at::Tensor& key, const at::Tensor& mask, double scale,
                             const Dropout& dropout) {
  return AttentionWeights::apply(query, key, optional(mask), scale, dropout);
}

at::Tensor scale_relu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                      const at::Tensor& residual) {
  return ScaleRelu::apply(x, scale, shift, optional(residual));
}

}  // namespace lerobot::fused
