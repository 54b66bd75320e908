// Autocast scopes: which precision rules, on which thread, and with which weights.
#include <thread>

#include "host/accel/abi.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

using checker::Operator;
using checker::Type;

std::string type_name(Type type) {
  switch (type) {
    case Type::kFloat32:
      return "float32";
    case Type::kFloat16:
      return "float16";
    case Type::kBFloat16:
      return "bfloat16";
    case Type::kInt32:
      return "int32";
    case Type::kOther:
      break;
  }
  return "another type";
}

/// The plugin's autocast in one of its precisions. Skipped where there is none.
class Scopes {
 public:
  explicit Scopes(Run& run) : run_(run) {
    run.start();
    if (!run.api().autocast_query || !run.api().autocast_enter) throw Skipped("the plugin has no autocast");
  }

  lra_autocast_support query(std::uint32_t precision) {
    auto support = sized<lra_autocast_support>();
    run_.require_ok(run_.api().autocast_query(run_.context(), 0, precision, &support, run_.error()), "autocast_query");
    return support;
  }

  /// The precisions below float32 that the device has. Skipped when it has none.
  std::vector<std::uint32_t> low_precisions() {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t precision : {LRA_PRECISION_BF16, LRA_PRECISION_FP16}) {
      if (query(precision).support != LRA_SUPPORT_NONE) found.push_back(precision);
    }
    if (found.empty()) throw Skipped("the device has neither bf16 nor fp16");
    return found;
  }

  std::uint64_t enter(std::uint32_t precision) {
    auto args = sized<lra_autocast_args>();
    args.precision = precision;
    std::uint64_t token = 0;
    run_.require_ok(run_.api().autocast_enter(run_.context(), &args, &token, run_.error()), "autocast_enter");
    run_.require(token != 0, "autocast_enter: the token is 0");
    return token;
  }

  void exit(std::uint64_t token) {
    run_.require_ok(run_.api().autocast_exit(run_.context(), token, run_.error()), "autocast_exit");
  }

  void expect_type(Type needed, const char* where) { expect_type(Operator::kMm, Type::kFloat32, needed, where); }

  void expect_type(Operator what, Type low, Type needed, const std::string& where) {
    const Type found = run_.tensors().result_type(what, low);
    run_.expect(found == needed, "{}: the result is {}, needed {}", where, type_name(found), type_name(needed));
  }

 private:
  Run& run_;
};

Type type_of(std::uint32_t precision) {
  return precision == LRA_PRECISION_BF16   ? Type::kBFloat16
         : precision == LRA_PRECISION_FP16 ? Type::kFloat16
                                           : Type::kFloat32;
}

/// What the capability bits say, as an LRA_SUPPORT_ value.
std::uint32_t support_by_bits(std::uint64_t capabilities, std::uint32_t precision) {
  const bool bf16 = precision == LRA_PRECISION_BF16;
  if ((capabilities & (bf16 ? LRA_CAP_BF16_NATIVE : LRA_CAP_FP16_NATIVE)) != 0) return LRA_SUPPORT_NATIVE;
  if ((capabilities & (bf16 ? LRA_CAP_BF16_EMULATED : LRA_CAP_FP16_EMULATED)) != 0) return LRA_SUPPORT_EMULATED;
  return LRA_SUPPORT_NONE;
}

void query(Run& run) {
  Scopes scopes(run);
  run.expect(scopes.query(LRA_PRECISION_FLOAT32).support == LRA_SUPPORT_NATIVE, "float32 is not native");
  for (const std::uint32_t precision : {LRA_PRECISION_BF16, LRA_PRECISION_FP16}) {
    const std::string name = type_name(type_of(precision));
    const lra_autocast_support support = scopes.query(precision);
    run.expect(support.support <= LRA_SUPPORT_NATIVE, "{}: support is {}, which has no meaning", name, support.support);
    run.expect((support.support == LRA_SUPPORT_NATIVE) == (support.reason[0] == 0),
               "{}: a reason is given exactly when it is not native", name);
    const std::uint32_t bits = support_by_bits(run.device().capabilities, precision);
    run.expect(support.support == bits, "{}: autocast_query says {}, the capability bits of device_info {}", name,
               support.support, bits);
    std::uint32_t elsewhere = 99;
    std::thread([&] {
      auto other = sized<lra_autocast_support>();
      if (run.api().autocast_query(run.context(), 0, precision, &other, nullptr) == LRA_OK) elsewhere = other.support;
    }).join();
    run.expect(elsewhere == support.support, "{}: another thread gets another answer", name);
    auto args = sized<lra_autocast_args>();
    args.precision = precision;
    std::uint64_t token = 42;
    if (support.support != LRA_SUPPORT_NONE) continue;
    const lra_status status = run.api().autocast_enter(run.context(), &args, &token, run.error());
    run.expect(accel::bounded_text(run.error()->message) == accel::bounded_text(support.reason),
               "{}: autocast_enter does not give autocast_query's reason", name);
    run.refused(status, LRA_UNSUPPORTED, name + ": autocast_enter");
    run.expect(token == 42, "{}: refused, and token was written to", name);
  }
  auto support = sized<lra_autocast_support>();
  run.refused(run.api().autocast_query(run.context(), 0, 9, &support, run.error()), LRA_INVALID_ARGUMENT,
              "autocast_query of precision 9");
  auto args = sized<lra_autocast_args>();
  args.precision = 9;
  std::uint64_t token = 0;
  run.refused(run.api().autocast_enter(run.context(), &args, &token, run.error()), LRA_INVALID_ARGUMENT,
              "autocast_enter of precision 9");
}

void nesting(Run& run) {
  Scopes scopes(run);
  for (const std::uint32_t precision : scopes.low_precisions()) {
    const Type low = type_of(precision);
    scopes.expect_type(Type::kFloat32, "before a scope");
    const std::uint64_t outer = scopes.enter(precision);
    scopes.expect_type(low, "in a scope");
    const std::uint64_t middle = scopes.enter(LRA_PRECISION_FLOAT32);
    scopes.expect_type(Type::kFloat32, "in a float32 scope inside it");
    const std::uint64_t inner = scopes.enter(precision);
    scopes.expect_type(low, "in a third scope inside that");
    scopes.exit(inner);
    scopes.expect_type(Type::kFloat32, "back in the float32 scope");
    scopes.exit(middle);
    scopes.expect_type(low, "back in the outer scope");
    scopes.exit(outer);
    scopes.expect_type(Type::kFloat32, "after all scopes");
  }
}

void token_order(Run& run) {
  Scopes scopes(run);
  const std::uint64_t outer = scopes.enter(LRA_PRECISION_FLOAT32);
  const std::uint64_t inner = scopes.enter(LRA_PRECISION_FLOAT32);
  run.expect(outer != inner, "two open scopes have the same token");
  const auto exit = [&](std::uint64_t token, lra_status needed, const char* what) {
    run.refused(run.api().autocast_exit(run.context(), token, run.error()), needed, what);
  };
  exit(outer, LRA_WRONG_STATE, "leaving the outer scope first");
  exit(0, LRA_INVALID_ARGUMENT, "leaving token 0");
  exit(inner + outer + 12345, LRA_WRONG_STATE, "leaving a token that was never given");
  scopes.exit(inner);
  exit(inner, LRA_WRONG_STATE, "leaving a scope twice");
  lra_status elsewhere = LRA_OK;
  std::thread([&] { elsewhere = run.api().autocast_exit(run.context(), outer, nullptr); }).join();
  run.refused(elsewhere, LRA_WRONG_STATE, "leaving a scope on another thread");
  scopes.exit(outer);
  exit(outer, LRA_WRONG_STATE, "leaving a scope twice");
}

/// torch keeps the casts of weights while a scope is open; after the outermost exit there are new weights.
void cache(Run& run) {
  Scopes scopes(run);
  for (const std::uint32_t precision : scopes.low_precisions()) {
    const std::uint64_t outer = scopes.enter(precision);
    const std::uint64_t inner = scopes.enter(precision);
    const std::vector<float> before = run.tensors().product_with_weight();
    scopes.exit(inner);
    scopes.exit(outer);
    run.tensors().scale_weight(2);
    const std::uint64_t token = scopes.enter(precision);
    const std::vector<float> after = run.tensors().product_with_weight();
    scopes.exit(token);
    run.expect(after.at(0) == 2 * before.at(0),
               "{}: weights doubled after the outermost exit give {}, before it {}: the cast weights are stale",
               type_name(type_of(precision)), after.at(0), before.at(0));
  }
}

void threads(Run& run) {
  Scopes scopes(run);
  const std::uint32_t precision = scopes.low_precisions().front();
  checker::Tensors& tensors = run.tensors();
  const std::uint64_t token = scopes.enter(precision);
  Type seen = Type::kOther;
  std::thread([&] {
    if (run.api().activate_device(run.context(), 0, nullptr) == LRA_OK) {
      seen = tensors.result_type(Operator::kMm, Type::kFloat32);
    }
  }).join();
  run.expect(seen == Type::kFloat32, "another thread computes in {} while a scope is open on this one",
             type_name(seen));
  scopes.expect_type(type_of(precision), "in a scope, after another thread worked");
  scopes.exit(token);
}

void shutdown(Run& run) {
  Scopes scopes(run);
  const std::uint64_t token = scopes.enter(LRA_PRECISION_FLOAT32);
  run.refused(run.api().shutdown(run.context(), run.error()), LRA_WRONG_STATE, "shutdown with a scope open");
  run.ok(run.api().autocast_exit(run.context(), token, run.error()), "leaving the scope after that");
  std::thread([&] {
    const auto args = sized<lra_autocast_args>();
    std::uint64_t forgotten = 0;
    run.api().autocast_enter(run.context(), &args, &forgotten, nullptr);
  }).join();
  run.ok(run.api().shutdown(run.context(), run.error()), "shutdown after a thread ended inside a scope");
}

/// Operators with float32 operands, by the lists that torch has for every device.
void result_types(Run& run) {
  Scopes scopes(run);
  const struct {
    Operator what;
    const char* name;
    bool low;
  } operators[] = {
      {Operator::kMm, "mm", true},
      {Operator::kBmm, "bmm", true},
      {Operator::kAddmm, "addmm", true},
      {Operator::kLinear, "linear", true},
      {Operator::kMatmul, "matmul", true},
      {Operator::kConv2d, "conv2d", true},
      {Operator::kSoftmax, "softmax", false},
      {Operator::kLayerNorm, "layer_norm", false},
      {Operator::kSum, "sum", false},
      {Operator::kAddToLow, "add of float32 and the low type", false},
  };
  for (const std::uint32_t precision : scopes.low_precisions()) {
    const Type low = type_of(precision);
    const std::uint64_t token = scopes.enter(precision);
    for (const auto& entry : operators) {
      scopes.expect_type(entry.what, low, entry.low ? low : Type::kFloat32,
                         format("{} in a {} scope", entry.name, type_name(low)));
    }
    scopes.exit(token);
  }
}

}  // namespace

std::vector<Check> autocast_checks() {
  return {
      {"behaviour.autocast-query",
       "support is what the capability bits say, has a reason unless native, and rules enter on every thread", query},
      {"behaviour.autocast-nesting", "scopes nest, the inner one rules, and each exit brings back what was before",
       nesting},
      {"behaviour.autocast-order", "only the thread's innermost scope can be left, once", token_order},
      {"behaviour.autocast-cache", "leaving the outermost scope drops torch's cast weights", cache},
      {"behaviour.autocast-threads", "a scope belongs to its thread", threads},
      {"behaviour.autocast-shutdown", "an open scope keeps the context; one of a thread that ended does not", shutdown},
      {"numerics.autocast-types", "operators give the result types of torch's lists", result_types},
  };
}

}  // namespace lerobot::check
