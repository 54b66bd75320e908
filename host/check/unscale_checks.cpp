// scaler_unscale: gradients times inv_scale, and the overflow flag.
#include <cmath>
#include <limits>
#include <memory>

#include "host/accel/abi.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

using checker::Tensor;
using checker::Type;
using Values = std::vector<float>;
using Gradients = std::vector<const Tensor*>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Type kTypes[] = {Type::kFloat32, Type::kFloat16, Type::kBFloat16};
// Around the widths of vectors, warps and blocks.
constexpr std::int64_t kSizes[] = {1, 2, 3, 7, 8, 9, 31, 33, 64, 255, 1000, 1025, 4099};

const char* name_of(Type type) {
  return type == Type::kFloat16 ? "float16" : type == Type::kBFloat16 ? "bfloat16" : "float32";
}

/// scaler_unscale with the two cells that the host keeps for it.
class Unscale {
 public:
  explicit Unscale(Run& run, float inv_scale = 0.5F) : run_(run) {
    run.start();
    if (!run.api().scaler_unscale) throw Skipped("the plugin leaves unscaling to the host");
    inv_scale_ = run.tensors().make(Type::kFloat32, {1}, {inv_scale});
    clear();
  }

  checker::Tensors& tensors() { return run_.tensors(); }

  std::unique_ptr<Tensor> make(Type type, const Values& values) {
    return tensors().make(type, {static_cast<std::int64_t>(values.size())}, values);
  }

  void clear() { set_flag(0); }
  void set_flag(float value) { found_inf_ = tensors().make(Type::kFloat32, {1}, {value}); }
  float flag() const { return found_inf_->values().at(0); }

  lra_status run(const Gradients& gradients) {
    std::vector<lra_tensor_view> views;
    for (const Tensor* gradient : gradients) views.push_back(gradient->view());
    return run_views(views);
  }

  lra_status run_views(const std::vector<lra_tensor_view>& views) {
    const lra_tensor_view found_inf = found_inf_->view();
    const lra_tensor_view inv_scale = inv_scale_->view();
    return run_args(arguments(views.data(), views.size(), found_inf, inv_scale));
  }

  lra_status run_args(const lra_unscale_args& args) {
    return run_.api().scaler_unscale(run_.context(), &args, run_.error());
  }

  static lra_unscale_args arguments(const lra_tensor_view* views, std::size_t count, const lra_tensor_view& found_inf,
                                    const lra_tensor_view& inv_scale) {
    auto args = sized<lra_unscale_args>();
    args.gradients = views;
    args.gradient_count = count;
    args.found_inf = &found_inf;
    args.inv_scale = &inv_scale;
    return args;
  }

  const Tensor& found_inf() const { return *found_inf_; }
  const Tensor& inv_scale() const { return *inv_scale_; }

 private:
  Run& run_;
  std::unique_ptr<Tensor> found_inf_;
  std::unique_ptr<Tensor> inv_scale_;
};

/// Numbers of both signs and many sizes, without a pattern that hides an exchanged element.
Values numbers(std::int64_t count) {
  Values values;
  std::uint32_t state = 12345;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    const auto mantissa = static_cast<float>(static_cast<std::int32_t>(state >> 8) - (1 << 23));
    values.push_back(std::ldexp(mantissa, static_cast<int>(state % 16) - 28));
  }
  return values;
}

/// Equal, or next to each other in a type of so few digits: hardware may round the product in either direction.
bool near(float found, float needed, Type type) {
  const float digits = type == Type::kFloat32 ? 0x1p-23F : type == Type::kFloat16 ? 0x1p-10F : 0x1p-7F;
  const float tiny = type == Type::kFloat16 ? 0x1p-24F : 0x1p-126F;  // a denormal may be flushed
  return found == needed || std::fabs(found - needed) <= std::max(std::fabs(needed) * digits, tiny);
}

void values(Run& run) {
  for (const float inv_scale : {1.0F / 65536, 1.0F / 3}) {
    Unscale unscale(run, inv_scale);
    for (const Type type : kTypes) {
      for (const std::int64_t size : kSizes) {
        const Values before = unscale.tensors().rounded(type, numbers(size));
        Values needed;
        for (const float value : before) needed.push_back(value * inv_scale);
        needed = unscale.tensors().rounded(type, needed);
        const auto gradient = unscale.make(type, before);
        run.require_ok(unscale.run({gradient.get()}), "scaler_unscale");
        const Values found = gradient->values();
        for (std::size_t i = 0; i < found.size(); ++i) {
          run.require(near(found[i], needed[i], type), "{} of {} elements: element {} is {}, needed {}", name_of(type),
                      size, i, found[i], needed[i]);
        }
        run.require(unscale.flag() == 0, "{} of {} elements: found_inf is {} for finite gradients", name_of(type), size,
                    unscale.flag());
      }
    }
  }
}

/// Each kind of overflow at the first, the last and odd places, for each type and size.
void flags(Run& run) {
  Unscale unscale(run);
  for (const Type type : kTypes) {
    for (const std::int64_t size : kSizes) {
      for (const float bad : {kInf, -kInf, kNan}) {
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size * 5 / 7, size - 1}) {
          Values content(static_cast<std::size_t>(size), 1.0F);
          content[static_cast<std::size_t>(at)] = bad;
          const auto gradient = unscale.make(type, content);
          unscale.clear();
          run.require_ok(unscale.run({gradient.get()}), "scaler_unscale");
          run.require(unscale.flag() == 1, "{} at {} of {} elements of {}: found_inf is {}, needed 1", bad, at, size,
                      name_of(type), unscale.flag());
        }
      }
    }
    const float largest = type == Type::kFloat16 ? 65504.0F : type == Type::kBFloat16 ? 0x1.fep127F : 0x1.fffffep127F;
    const auto extreme = unscale.make(type, {largest, -largest, 0x1p-24F, 0, -0.0F});
    unscale.clear();
    run.require_ok(unscale.run({extreme.get()}), "scaler_unscale");
    run.expect(unscale.flag() == 0, "{}: the largest finite numbers raise found_inf", name_of(type));
  }
}

/// A flag that is up stays up: after an earlier call, after ranks have added theirs, among gradients of several types.
void raised_flags(Run& run) {
  Unscale unscale(run);
  for (const Type type : kTypes) {
    for (const float before : {1.0F, 3.0F}) {
      const auto good = unscale.make(type, {2, 4});
      unscale.set_flag(before);
      run.require_ok(unscale.run({good.get()}), "scaler_unscale");
      run.expect(unscale.flag() == before, "found_inf, {} before, is {} after finite gradients of {}", before,
                 unscale.flag(), name_of(type));
      const auto bad = unscale.make(type, {2, kInf});
      run.require_ok(unscale.run({bad.get()}), "scaler_unscale");
      run.expect(unscale.flag() == 1, "found_inf, {} before, is {} after an overflow in {}, needed 1", before,
                 unscale.flag(), name_of(type));
    }
    for (const Type other : kTypes) {
      const auto good = unscale.make(other, {2, 4});
      const auto bad = unscale.make(type, {kNan});
      for (const Gradients& both : {Gradients{good.get(), bad.get()}, Gradients{bad.get(), good.get()}}) {
        unscale.clear();
        run.require_ok(unscale.run(both), "scaler_unscale");
        run.expect(unscale.flag() == 1, "found_inf is {} after an overflow in {} beside finite {}", unscale.flag(),
                   name_of(type), name_of(other));
      }
    }
  }
}

/// Gradients as they come: strided, with an offset, single cells, empty, none at all.
void layouts(Run& run) {
  Unscale unscale(run);
  for (const Type type : kTypes) {
    const auto whole = unscale.make(type, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
    const auto expect_whole = [&](const char* what, const Values& needed) {
      run.expect(whole->values() == needed, "{}, {}: wrong elements were changed", name_of(type), what);
    };
    // A transposed 2x3 matrix that begins at element 2 and leaves out every fourth.
    const auto part = whole->strided({3, 2}, {1, 4}, 2);
    run.ok(unscale.run({part.get()}), "a transposed gradient with gaps");
    expect_whole("transposed with gaps", {0, 2, 2, 3, 4, 10, 6, 7, 8, 18, 20, 22});
    const auto sparse = whole->strided({2}, {6}, 5);
    run.ok(unscale.run({sparse.get()}), "a gradient of every sixth element");
    expect_whole("every sixth", {0, 2, 2, 3, 4, 5, 6, 7, 8, 18, 20, 11});
    const auto deep = unscale.tensors().make(type, {1, 2, 1, 1, 2, 1, 1, 1}, {2, 4, 6, 8});
    run.ok(unscale.run({deep.get()}), "a gradient of 8 dimensions");
    run.expect(deep->values() == Values({1, 2, 3, 4}), "{}: 8 dimensions give wrong numbers", name_of(type));
    const auto cell = unscale.tensors().make(type, {}, {2});
    const auto empty = unscale.tensors().make(type, {0}, {});
    const auto flat = unscale.tensors().make(type, {3, 0, 2}, {});
    run.ok(unscale.run({cell.get(), empty.get(), flat.get()}), "a single cell and empty gradients");
    run.expect(cell->values() == Values({1}), "{}: a cell without dimensions gives a wrong number", name_of(type));
    run.ok(unscale.run({empty.get()}), "an empty gradient alone");
  }
  run.ok(unscale.run({}), "no gradients");
  run.expect(unscale.flag() == 0, "found_inf is {} for finite gradients", unscale.flag());
}

/// As many as ACT has, of mixed types, with one overflow; the host's next version has longer views.
void many(Run& run) {
  Unscale unscale(run);
  std::vector<std::unique_ptr<Tensor>> gradients;
  Gradients all;
  for (std::size_t i = 0; i < 150; ++i) {
    gradients.push_back(unscale.make(kTypes[i * 7 % 3], Values(i % 40 + 1, static_cast<float>(2 * i))));
    all.push_back(gradients.back().get());
  }
  run.require_ok(unscale.run(all), "150 gradients");
  run.expect(unscale.flag() == 0, "150 gradients: found_inf is {} for finite gradients", unscale.flag());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Values needed(i % 40 + 1, static_cast<float>(i));
    run.require(all[i]->values() == needed, "150 gradients of mixed types: number {} is wrong", i);
  }
  gradients.push_back(unscale.make(Type::kFloat16, {1, kInf}));
  all.push_back(gradients.back().get());
  run.require_ok(unscale.run(all), "151 gradients");
  run.expect(unscale.flag() == 1, "an overflow in the last of 151 gradients: found_inf is {}", unscale.flag());

  struct Longer {
    lra_tensor_view view;
    std::uint64_t tail;
  };
  const auto first = unscale.make(Type::kFloat32, {2});
  const auto second = unscale.make(Type::kFloat32, {4});
  Longer longer[2] = {{first->view(), 0}, {second->view(), 0}};
  for (Longer& element : longer) element.view.struct_size = sizeof(Longer);
  const lra_tensor_view found_inf = unscale.found_inf().view();
  const lra_tensor_view inv_scale = unscale.inv_scale().view();
  run.ok(unscale.run_args(Unscale::arguments(&longer[0].view, 2, found_inf, inv_scale)), "views of a later version");
  run.expect(first->values() == Values({1}) && second->values() == Values({2}),
             "views of a later version, further apart: wrong numbers");
  for (Longer& element : longer) element.view.struct_size = sizeof(lra_tensor_view) + 4;
  run.refused(unscale.run_args(Unscale::arguments(&longer[0].view, 2, found_inf, inv_scale)), LRA_INVALID_ARGUMENT,
              "views of a size that is no multiple of 8");
}

/// Every way in which a view can be wrong, behind a good one that must not be touched.
void refusals(Run& run) {
  Unscale unscale(run);
  const auto good = unscale.make(Type::kFloat32, {2});
  const auto other = unscale.make(Type::kFloat32, {4});
  const struct {
    const char* what;
    void (*spoil)(lra_tensor_view&);
  } faults[] = {
      {"an integer dtype", [](lra_tensor_view& v) { v.dtype_code = LRA_DTYPE_INT; }},
      {"64 bits", [](lra_tensor_view& v) { v.dtype_bits = 64; }},
      {"4 lanes", [](lra_tensor_view& v) { v.dtype_lanes = 4; }},
      {"another device type", [](lra_tensor_view& v) { v.torch_type += 1; }},
      {"another device index", [](lra_tensor_view& v) { v.torch_index += 1; }},
      {"9 dimensions", [](lra_tensor_view& v) { v.ndim = LRA_MAX_DIMS + 1; }},
      {"a negative size", [](lra_tensor_view& v) { v.shape[0] = -1; }},
      {"a negative stride", [](lra_tensor_view& v) { v.strides[0] = -1; }},
      {"no base", [](lra_tensor_view& v) { v.base = nullptr; }},
      {"an offset inside an element", [](lra_tensor_view& v) { v.byte_offset = 3; }},
  };
  const auto untouched = [&](const std::string& what) {
    run.expect(good->values().at(0) == 2 && other->values().at(0) == 4, "{}: refused, and a gradient was changed",
               what);
  };
  for (const auto& fault : faults) {
    lra_tensor_view bad = other->view();
    fault.spoil(bad);
    run.refused(unscale.run_views({good->view(), bad}), LRA_INVALID_ARGUMENT, std::string("a view with ") + fault.what);
    untouched(fault.what);
  }
  const auto wide = unscale.make(Type::kFloat32, {0, 0});
  const auto half = unscale.make(Type::kFloat16, {0});
  const std::vector<lra_tensor_view> views = {good->view()};
  for (const Tensor* cell : {wide.get(), half.get()}) {
    const lra_tensor_view bad = cell->view();
    const lra_tensor_view found_inf = unscale.found_inf().view();
    const lra_tensor_view inv_scale = unscale.inv_scale().view();
    run.refused(unscale.run_args(Unscale::arguments(views.data(), 1, bad, inv_scale)), LRA_INVALID_ARGUMENT,
                "found_inf that is no float32 cell");
    run.refused(unscale.run_args(Unscale::arguments(views.data(), 1, found_inf, bad)), LRA_INVALID_ARGUMENT,
                "inv_scale that is no float32 cell");
  }
  untouched("a wrong cell");
}

}  // namespace

std::vector<Check> unscale_checks() {
  return {
      {"numerics.unscale-values", "every gradient is multiplied by inv_scale, in every type and size", values},
      {"numerics.unscale-flags", "inf, -inf and NaN at any place raise found_inf, nothing else does", flags},
      {"numerics.unscale-raised", "found_inf stays raised: by an earlier call, by ranks, by another type in the call",
       raised_flags},
      {"numerics.unscale-layouts", "strided, offset, deep, single, empty and no gradients", layouts},
      {"numerics.unscale-many", "150 gradients of mixed types in one call, views of any length", many},
      {"numerics.unscale-refusals", "a wrong view is refused before any gradient is changed", refusals},
  };
}

}  // namespace lerobot::check
