// What the simulated accelerator promises: the CPU's numbers on a device that is strict about places, types and memory.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/simaccel/counters.h"
#include "tests/simaccel/loaded_plugin.h"

namespace lerobot::simaccel {
namespace {

using ::testing::HasSubstr;

const std::string kFiles = ::testing::TempDir() + "simaccel." + std::to_string(getpid());
const std::string kControls = kFiles + ".controls";
const std::string kCounters = kFiles + ".counters";

/// Before the plugin starts: it reads the names of both files once.
const bool kNamed = [] {
  std::ofstream(kControls).flush();
  std::remove(kCounters.c_str());
  return setenv("LEROBOT_SIMACCEL_FILE", kControls.c_str(), 1) == 0 &&
         setenv("LEROBOT_SIMACCEL_COUNTERS", kCounters.c_str(), 1) == 0;
}();

class Operators : public PluginTest {
 protected:
  static void TearDownTestSuite() {
    std::remove(kControls.c_str());
    std::remove(kCounters.c_str());
  }
  void TearDown() override {
    set_controls("");
    PluginTest::TearDown();
  }

  /// A new file each time, so that the plugin sees the change.
  static void set_controls(const std::string& text) {
    std::ofstream(kControls + ".new") << text;
    std::rename((kControls + ".new").c_str(), kControls.c_str());
  }
  /// A new context after a handshake under these controls.
  void restart(const std::string& text) {
    PluginTest::TearDown();
    set_controls(text);
    PluginTest::SetUp();
  }
  static Counters& counters() {
    static Counters& all = map_counters(kCounters.c_str());
    return all;
  }
  static std::string message_of(const std::function<void()>& function) {
    try {
      function();
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
    return "";
  }

  const at::Device sim_{at::kPrivateUse1, 0};
  const at::TensorOptions on_sim_ = at::TensorOptions(at::kFloat).device(sim_);
};

/// Tensors of an operator's arguments, the same on both devices.
struct Place {
  at::Device device;
  at::Tensor random(at::IntArrayRef shape) const { return at::rand(shape, generator).sub_(0.5).to(device); }
  at::Generator generator = at::detail::createCPUGenerator(7);
};

using Function = std::function<at::Tensor(const Place&)>;

TEST_F(Operators, GiveTheBitsOfTheCpu) {
  const std::map<std::string, Function> functions{
      {"addmm",
       [](const Place& p) {
         return at::linear(p.random({16, 64}), p.random({32, 64}), p.random({32}));
       }},
      {"linear",
       [](const Place& p) {
         return at::linear(p.random({11, 8, 64}), p.random({128, 64}), p.random({128}));
       }},
      {"linear of a view",
       [](const Place& p) {
         return at::linear(p.random({8, 11, 64}).transpose(0, 1), p.random({128, 64}), p.random({128}));
       }},
      {"linear of parts",
       [](const Place& p) {
         return at::linear(p.random({11, 8, 64}), p.random({192, 64}).chunk(3)[1], p.random({192}).chunk(3)[1]);
       }},
      {"bmm",
       [](const Place& p) {
         return at::bmm(p.random({32, 11, 16}), p.random({32, 11, 16}).transpose(1, 2));
       }},
      {"baddbmm",
       [](const Place& p) {
         return at::baddbmm(p.random({32, 1, 11}), p.random({32, 11, 16}), p.random({32, 16, 11}));
       }},
      {"softmax",
       [](const Place& p) {
         return at::softmax(p.random({32, 11, 11}), -1);
       }},
      {"layer_norm",
       [](const Place& p) {
         return at::layer_norm(p.random({11, 8, 64}), {64}, p.random({64}), p.random({64}));
       }},
      {"gelu",
       [](const Place& p) {
         return at::gelu(p.random({11, 8, 64}));
       }},
      {"sum",
       [](const Place& p) {
         return p.random({8, 10, 2}).abs().sum();
       }},
      {"mean",
       [](const Place& p) {
         return p.random({8, 1000}).mean();
       }},
      {"norm",
       [](const Place& p) {
         return p.random({8, 1000}).norm();
       }},
      {"l1_loss",
       [](const Place& p) {
         return at::l1_loss(p.random({8, 10, 2}), p.random({8, 10, 2}));
       }},
      {"conv2d",
       [](const Place& p) {
         return at::conv2d(p.random({2, 3, 24, 24}), p.random({8, 3, 7, 7}), {}, 2, 3);
       }},
      {"max_pool2d",
       [](const Place& p) {
         return at::max_pool2d(p.random({2, 3, 24, 24}), 3, 2, 1);
       }},
      {"index",
       [](const Place& p) {
         return p.random({8, 4}).index({at::tensor({3, 1, 2})});
       }},
      {"where",
       [](const Place& p) {
         return at::where(p.random({8, 4}) > 0, p.random({8, 4}), 3.0);
       }},
  };
  for (const auto& [name, function] : functions) {
    const at::Tensor here = function({at::kCPU}), there = function({sim_}).to(at::kCPU);
    EXPECT_TRUE(here.equal(there)) << name << " differs by " << (here - there).abs().max().item<float>();
  }
}

TEST_F(Operators, ShareTheMemoryOfViews) {
  const at::Tensor whole = at::zeros({4, 4}, on_sim_);
  whole.select(0, 1).fill_(1);
  whole.t().narrow(0, 3, 1).add_(2);
  EXPECT_EQ(whole.sum().item<float>(), 4 + 4 * 2);
  EXPECT_TRUE(whole.select(0, 1).is_alias_of(whole));
  EXPECT_EQ(whole.view({-1}).storage().data(), whole.storage().data());
}

TEST_F(Operators, GiveMemoryToResultsThatGrow) {
  at::Tensor out = at::empty({0}, on_sim_);
  at::cat_out(out, {at::ones({3}, on_sim_), at::zeros({2}, on_sim_)});
  EXPECT_EQ(out.device(), sim_);
  EXPECT_EQ(values(out), (std::vector<float>{1, 1, 1, 0, 0}));
  out.resize_({2});
  EXPECT_EQ(values(out), (std::vector<float>{1, 1}));
  at::Tensor other = at::empty({0}, on_sim_);
  other.set_(out.storage(), 1, {2, 2}, {1, 2});
  EXPECT_EQ(values(other), (std::vector<float>{1, 0, 1, 0}));
}

TEST_F(Operators, FlowBackThroughAutogradOnAThreadOfItsOwn) {
  at::Tensor weight = at::ones({2, 2}, on_sim_).set_requires_grad(true);
  const std::uint64_t here = counters().threads[0].operators[0];
  at::mm(weight, weight).sum().backward();
  EXPECT_EQ(values(weight.grad()), (std::vector<float>{4, 4, 4, 4}));
  EXPECT_EQ(weight.grad().device(), sim_);
  EXPECT_GT(counters().threads[0].operators[0], here);
  EXPECT_GT(counters().threads[1].operators[0], 0U);
}

TEST_F(Operators, RefuseTensorsOfAnotherPlace) {
  const at::Tensor here = at::ones({2}), there = at::ones({2}, on_sim_);
  EXPECT_THAT(message_of([&] { at::add(here, there); }), HasSubstr("simaccel:0 and cpu"));
  const at::Tensor other = at::ones({2}, on_sim_.device(at::Device(at::kPrivateUse1, 1)));
  EXPECT_THAT(message_of([&] { at::add(there, other); }), HasSubstr("simaccel:1"));
  EXPECT_THAT(message_of([&] { at::ones({2}, on_sim_.device(at::Device(at::kPrivateUse1, 2))); }),
              HasSubstr("device 2 of 2"));
  EXPECT_EQ(values(there.to(other.device())), (std::vector<float>{1, 1}));
}

TEST_F(Operators, MakeNoFloat64WhereThereIsNone) {
  EXPECT_EQ(at::ones({2}, on_sim_.dtype(at::kDouble)).scalar_type(), at::kDouble);
  set_controls("float64=no");
  EXPECT_THAT(message_of([&] { at::ones({2}, on_sim_.dtype(at::kDouble)); }), HasSubstr("no float64"));
  const at::Tensor numbers = at::ones({2}, on_sim_);
  EXPECT_THAT(message_of([&] { numbers.to(at::kDouble); }), HasSubstr("no float64"));
  EXPECT_THAT(message_of([&] { numbers.sum(at::kDouble); }), HasSubstr("no float64"));
  EXPECT_EQ(values(numbers * 2.0), (std::vector<float>{2, 2})) << "a number of the program is no tensor of the device";
}

TEST_F(Operators, FailWhenMemoryRunsOut) {
  const at::Tensor kept = at::ones({1000}, on_sim_);
  set_controls("memory=100000");
  EXPECT_THROW(at::ones({100000}, on_sim_), c10::OutOfMemoryError);
  EXPECT_THROW(kept.expand({100, 1000}).contiguous(), c10::OutOfMemoryError);
  EXPECT_EQ(kept.sum().item<float>(), 1000);
}

TEST_F(Operators, AreCountedWithTheMemoryTheyTake) {
  auto& device = counters().devices[0];
  const std::uint64_t bytes = device.bytes, allocations = device.allocations, operators = device.operators;
  {
    const at::Tensor numbers = at::ones({1000}, on_sim_);  // one allocation, one fill
    EXPECT_EQ(device.bytes, bytes + 4000);
    EXPECT_EQ(device.allocations, allocations + 1);
    EXPECT_EQ(device.operators, operators + 1);
    const at::Tensor sums = numbers.abs();  // its result counts as well
    EXPECT_EQ(device.bytes, bytes + 8000);
  }
  EXPECT_EQ(device.bytes, bytes);
  EXPECT_GE(device.peak_bytes, bytes + 8000);
}

TEST_F(Operators, AreInTheMemoryStatisticsOfTheContract) {
  set_controls("memory=1000000");
  const at::Tensor numbers = at::ones({1000}, on_sim_);
  auto stats = sized<lra_memory_stats>();
  expect_ok(api_.memory_stats(context_, 0, &stats, &error_));
  EXPECT_EQ(stats.allocated, counters().devices[0].bytes);
  EXPECT_EQ(stats.allocated_peak, counters().devices[0].peak_bytes);
  EXPECT_EQ(stats.total, 1000000U);
  EXPECT_EQ(stats.free, 1000000 - stats.allocated);
}

TEST_F(Operators, AreCountedByTheTypeTheyComputeIn) {
  auto& device = counters().devices[0];
  const std::pair<NumberType, at::ScalarType> types[] = {
      {NumberType::kFloat32, at::kFloat}, {NumberType::kFloat16, at::kHalf}, {NumberType::kBFloat16, at::kBFloat16}};
  for (const auto& [kind, type] : types) {
    const at::Tensor m = at::ones({4, 4}, on_sim_.dtype(type));
    const at::Tensor w = at::ones({4, 4}, on_sim_.dtype(type)).set_requires_grad(true);
    const std::uint64_t products = device.products[kind], convolutions = device.convolutions[kind];
    at::linear(m, m, m.select(0, 0));
    at::bmm(m.unsqueeze(0), m.unsqueeze(0));
    at::mv(m, m.select(0, 0));
    m.clone().addmm_(m, m);
    at::add(m, m);
    EXPECT_EQ(device.products[kind], products + 4) << type;
    at::mm(m, w).sum().backward();
    EXPECT_EQ(device.products[kind], products + 6) << type << ": forward, and back to the weight";
    EXPECT_EQ(device.convolutions[kind], convolutions);
    at::conv2d(m.view({1, 1, 4, 4}), w.view({1, 1, 4, 4})).sum().backward();
    EXPECT_EQ(device.convolutions[kind], convolutions + 2) << type;
  }
}

TEST_F(Operators, AreCountedWhenTheHostWaitsForTheirValues) {
  const at::Tensor here = at::ones({3}), numbers = at::ones({3}, on_sim_);
  const auto reads = [&](const std::function<void()>& function) {
    const std::uint64_t before = counters().devices[0].reads;
    function();
    return counters().devices[0].reads - before;
  };
  EXPECT_EQ(reads([&] { numbers.sum().mul(2).add_(1); }), 0U);
  EXPECT_EQ(reads([&] { at::ones({3}, on_sim_).copy_(here); }), 0U) << "to the device";
  EXPECT_EQ(reads([&] { numbers.clone().copy_(numbers); }), 0U) << "on the device";
  EXPECT_EQ(reads([&] { numbers.to(at::kCPU); }), 1U);
  EXPECT_EQ(reads([&] { numbers.sum().item<float>(); }), 1U);
  EXPECT_EQ(reads([&] { numbers.equal(numbers); }), 1U);
  EXPECT_EQ(reads([&] { numbers.nonzero(); }), 1U);
}

TEST_F(Operators, LackTheTableEntriesThatTheControlsTakeAway) {
  EXPECT_EQ(api_.tf32_get, nullptr);
  EXPECT_NE(api_.scaler_unscale, nullptr);
  restart("scaler=none,autocast=none,tf32=yes");
  EXPECT_EQ(api_.scaler_unscale, nullptr);
  EXPECT_EQ(api_.scaler_update, nullptr);
  EXPECT_EQ(api_.autocast_query, nullptr);
  EXPECT_EQ(api_.autocast_enter, nullptr);
  EXPECT_EQ(api_.autocast_exit, nullptr);
  EXPECT_NE(api_.tf32_get, nullptr);
  auto info = sized<lra_device_info>();
  expect_ok(api_.device_info(context_, 0, &info, &error_));
  EXPECT_EQ(info.capabilities, LRA_CAP_UNIFIED_MEMORY | LRA_CAP_FLOAT64 | LRA_CAP_TF32);
}

TEST_F(Operators, HaveTheTf32StateThatWasSet) {
  restart("tf32=yes");
  const auto expect = [&](std::uint32_t matmul, std::uint32_t convolution, std::uint64_t sets) {
    auto state = sized<lra_tf32>();
    expect_ok(api_.tf32_get(context_, &state, &error_));
    EXPECT_EQ(state.matmul, matmul);
    EXPECT_EQ(state.convolution, convolution);
    EXPECT_EQ(counters().tf32_matmul, matmul);
    EXPECT_EQ(counters().tf32_convolution, convolution);
    EXPECT_EQ(counters().tf32_sets, sets);
  };
  const auto set = [&](std::uint32_t matmul, std::uint32_t convolution) {
    auto settings = sized<lra_tf32>();
    settings.matmul = matmul;
    settings.convolution = convolution;
    return api_.tf32_set(context_, &settings, &error_);
  };
  expect(LRA_TF32_OFF, LRA_TF32_ON, 0);  // torch's defaults
  expect_ok(set(LRA_TF32_ON, LRA_TF32_LEAVE));
  expect(LRA_TF32_ON, LRA_TF32_ON, 1);
  expect_ok(set(LRA_TF32_LEAVE, LRA_TF32_OFF));
  expect(LRA_TF32_ON, LRA_TF32_OFF, 2);
  EXPECT_EQ(set(7, LRA_TF32_LEAVE), LRA_INVALID_ARGUMENT);
  expect(LRA_TF32_ON, LRA_TF32_OFF, 2);
}

TEST_F(Operators, OverflowWhenTheyAreToldTo) {
  at::Tensor found_inf = at::zeros({1}, on_sim_);
  const at::Tensor inv_scale = at::ones({1}, on_sim_);
  const std::uint64_t next = counters().devices[0].unscales + 1;
  set_controls("overflow_at=" + std::to_string(next) + "+" + std::to_string(next + 2));
  std::vector<float> flags;
  for (int i = 0; i < 4; ++i) {
    at::_amp_foreach_non_finite_check_and_unscale_({at::ones({3}, on_sim_)}, found_inf.zero_(), inv_scale);
    flags.push_back(found_inf.item<float>());
  }
  EXPECT_EQ(flags, (std::vector<float>{1, 0, 1, 0}));
}

TEST_F(Operators, RunInThePrecisionThatAutocastLists) {
  for (const std::uint32_t precision : {LRA_PRECISION_BF16, LRA_PRECISION_FP16}) {
    auto args = sized<lra_autocast_args>();
    args.precision = precision;
    std::uint64_t token = 0;
    expect_ok(api_.autocast_enter(context_, &args, &token, &error_));
    const at::ScalarType low = precision == LRA_PRECISION_BF16 ? at::kBFloat16 : at::kHalf;
    const at::Tensor m = at::ones({4, 4}, on_sim_), half = m.to(low), v = at::ones({4}, on_sim_);
    EXPECT_EQ(at::linear(m, m, v).scalar_type(), low);
    EXPECT_EQ(at::matmul(m, v).scalar_type(), low);
    EXPECT_EQ(at::addmm(m, m, m).scalar_type(), low);
    EXPECT_EQ(at::bmm(m.unsqueeze(0), m.unsqueeze(0)).scalar_type(), low);
    EXPECT_EQ(at::conv2d(m.view({1, 1, 4, 4}), m.view({1, 1, 4, 4})).scalar_type(), low);
    EXPECT_EQ(at::scaled_dot_product_attention(m.view({1, 1, 4, 4}), m.view({1, 1, 4, 4}), m.view({1, 1, 4, 4}))
                  .scalar_type(),
              low);
    EXPECT_EQ(at::softmax(half, -1).scalar_type(), at::kFloat);
    EXPECT_EQ(at::layer_norm(half, {4}).scalar_type(), at::kFloat);
    EXPECT_EQ(at::l1_loss(half, half).scalar_type(), at::kFloat);
    EXPECT_EQ(at::sum(half).scalar_type(), at::kFloat);
    EXPECT_EQ(at::add(half, half).scalar_type(), low);
    EXPECT_EQ(at::add(half, m).scalar_type(), at::kFloat);
    expect_ok(api_.autocast_exit(context_, token, &error_));
  }
}

TEST_F(Operators, DrawRandomNumbersFromTheDevicesGenerator) {
  expect_ok(api_.seed(context_, 0, 3, &error_));
  expect_ok(api_.seed(context_, 1, 3, &error_));
  const auto first = values(at::rand({4}, on_sim_));
  EXPECT_EQ(values(at::rand({4}, on_sim_.device(at::Device(at::kPrivateUse1, 1)))), first);
  at::Generator generator = at::globalContext().defaultGenerator(sim_);
  const at::Tensor state = generator.get_state();
  const auto second = values(at::dropout(at::ones({64}, on_sim_), 0.5, /*train=*/true));
  generator.set_state(state);
  EXPECT_EQ(values(at::dropout(at::ones({64}, on_sim_), 0.5, /*train=*/true)), second);
}

TEST_F(Operators, FailTheSelftestWhenTheyAreWrong) {
  set_controls("wrong_sums=yes");
  EXPECT_EQ(api_.selftest(context_, 0, &error_), LRA_INTERNAL);
  EXPECT_THAT(error_.message, HasSubstr("an addition on simaccel:0 gave wrong numbers"));
}

TEST_F(Operators, HangOnlyWhenTheyAreToldTo) {
  std::uint64_t total = 0;
  for (const auto& device : counters().devices) total += device.operators;
  set_controls("hang_at=" + std::to_string(total + 2));
  std::atomic<int> done{0};
  std::thread([&] {
    at::Tensor numbers = at::empty({1}, on_sim_);
    for (; done < 3; ++done) numbers.fill_(1);
  }).detach();  // it never ends, and the process leaves without it
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace lerobot::simaccel
