// The least time that one update can take here with torch's products and convolutions: those of one real update, each
// distinct one alone on fresh tensors, best of N, and one pass over the memory that optimizer and clipping touch.
//   update_floor [--repeats=N] FLAGS OF lerobot-train      JSON to stdout, a table to stderr
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/config/load.h"
#include "host/train/batch.h"
#include "host/train/dataset_setup.h"
#include "host/train/freed_memory.h"
#include "host/train/kernel_choice.h"
#include "host/train/phase_clock.h"
#include "host/train/random_state.h"

namespace lerobot {
namespace {

const std::set<std::string> kProducts = {"aten::mm",     "aten::bmm",     "aten::addmm",
                                         "aten::addmm_", "aten::baddbmm", "aten::baddbmm_"};
const std::string kConvolution = "aten::convolution";
const std::string kConvolutionBackward = "aten::convolution_backward";

/// A tensor without its memory: what the time of an operator depends on.
struct Layout {
  std::vector<std::int64_t> sizes, strides;
  at::ScalarType type;

  explicit Layout(const at::Tensor& tensor)
      : sizes(tensor.sizes().vec()), strides(tensor.strides().vec()), type(tensor.scalar_type()) {}

  at::Tensor fresh() const {
    std::int64_t extent = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) extent += (sizes[i] - 1) * strides[i];
    return at::randn({std::max<std::int64_t>(extent, 1)}).to(type).as_strided(sizes, strides);
  }
};

/// One call of an operator: its arguments, tensors as their layouts.
struct Call {
  c10::OperatorName op;
  std::vector<c10::IValue> values;             ///< none where the argument is a tensor
  std::vector<std::optional<Layout>> layouts;  ///< one per argument
  std::int64_t times = 0;

  bool is_convolution() const { return !kProducts.contains(op.name); }

  std::vector<c10::IValue> fresh_arguments() const {
    std::vector<c10::IValue> arguments = values;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      if (layouts[i]) arguments[i] = layouts[i]->fresh();
    }
    return arguments;
  }
};

/// The calls of one update by what tells them apart. Only the outermost of nested ones: an operator that calls another
/// is timed whole.
class Recorder {
 public:
  Recorder()
      : handle_(at::addGlobalCallback(at::RecordFunctionCallback(&Recorder::begin, &Recorder::end)
                                          .needsInputs(true)
                                          .scopes({at::RecordScope::FUNCTION}))) {
    current_ = this;
  }
  ~Recorder() { stop(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void stop() {
    if (current_ == nullptr) return;
    at::removeCallback(handle_);
    current_ = nullptr;
  }
  const std::map<std::string, Call>& calls() const { return calls_; }

 private:
  struct Counted : at::ObserverContext {};

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    const auto op = function.operator_name();
    if (!op || !(kProducts.contains(op->name) || op->name == kConvolution || op->name == kConvolutionBackward)) {
      return nullptr;
    }
    if (depth_++ == 0) current_->add(*op, function.inputs());
    return std::make_unique<Counted>();
  }

  static void end(const at::RecordFunction&, at::ObserverContext* context) {
    if (context != nullptr) --depth_;
  }

  void add(const c10::OperatorName& op, c10::ArrayRef<const c10::IValue> arguments) {
    Call call{.op = op, .values = {}, .layouts = {}};
    std::ostringstream key;
    key << op;
    for (const c10::IValue& argument : arguments) {
      const bool is_tensor = argument.isTensor() && argument.toTensor().defined();
      call.values.push_back(is_tensor ? c10::IValue() : argument);
      call.layouts.push_back(is_tensor ? std::optional<Layout>(argument.toTensor()) : std::nullopt);
      key << ' ';
      if (is_tensor) {
        key << call.layouts.back()->type << at::IntArrayRef(call.layouts.back()->sizes) << '/'
            << at::IntArrayRef(call.layouts.back()->strides);
      } else {
        key << argument;
      }
    }
    const std::lock_guard lock(mutex_);
    ++calls_.try_emplace(key.str(), std::move(call)).first->second.times;
  }

  static inline Recorder* current_ = nullptr;
  static inline thread_local int depth_ = 0;
  at::CallbackHandle handle_;
  std::mutex mutex_;
  std::map<std::string, Call> calls_;
};

/// Multiplications and additions of a call, counted separately, as is the custom.
double operations(const Call& call, const std::vector<c10::IValue>& arguments,
                  const std::vector<c10::IValue>& results) {
  const auto numbers = [](const c10::IValue& value) { return static_cast<double>(value.toTensor().numel()); };
  if (!call.is_convolution()) {
    const std::size_t first = call.op.name.find("add") == std::string::npos ? 0 : 1;  // add...: the summand comes first
    return 2 * numbers(arguments[first]) * static_cast<double>(arguments[first + 1].toTensor().size(-1));
  }
  const bool backward = call.op.name == kConvolutionBackward;
  const std::size_t input = backward ? 1 : 0;
  const at::Tensor weight = arguments[input + 1].toTensor();
  const bool transposed = arguments[backward ? 7 : 6].toBool();
  // Each number of the side that has weight.size(0) channels meets all the weights of its channel.
  const c10::IValue& output = backward ? arguments[0] : results[0];
  const double once = 2 * numbers(transposed ? arguments[input] : output) * static_cast<double>(weight.numel()) /
                      static_cast<double>(weight.size(0));
  if (!backward) return once;
  const std::vector<bool> wanted = arguments[10].toBoolList().vec();
  return once * (static_cast<double>(wanted[0]) + static_cast<double>(wanted[1]));
}

double best_seconds(int repeats, const std::function<void()>& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= repeats; ++i) {
    train::PhaseClock clock;
    body();
    const double seconds = clock.lap();
    if (i > 0) best = std::min(best, seconds);  // the first one warms up
  }
  return best;
}

struct Part {
  double seconds = 0, gflop = 0;
  std::int64_t calls = 0, distinct = 0;
};

void measure(const Call& call, int repeats, Part& part) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(call.op.name.c_str(), call.op.overload_name.c_str());
  const std::vector<c10::IValue> arguments = call.fresh_arguments();
  std::vector<c10::IValue> stack;
  const double seconds = best_seconds(repeats, [&] {
    stack = arguments;
    op.callBoxed(stack);
  });
  const auto times = static_cast<double>(call.times);
  part.seconds += times * seconds;
  part.gflop += times * operations(call, arguments, stack) / 1e9;
  part.calls += call.times;
  ++part.distinct;
}

/// What an update does to memory outside its products: parameters, gradients and both moments are read and all but the
/// gradients written (7 times their size), and the norm reads the gradients once more.
struct Memory {
  double optimizer_s = 0, norm_s = 0;
};

Memory measure_memory(std::int64_t parameters, int repeats) {
  const at::Tensor moment = at::randn({parameters}), gradient = at::randn({parameters});
  // Reads two, writes one of them, with one addition a number: three of the seven.
  const double three = best_seconds(repeats, [&] { at::Tensor(moment).add_(gradient); });
  return {.optimizer_s = three * 7 / 3, .norm_s = best_seconds(repeats, [&] { at::linalg_vector_norm(gradient); })};
}

struct Settings {
  int repeats = 5;
  config::TrainCommand command;
};

Settings read_arguments(std::vector<std::string> arguments) {
  Settings settings;
  const std::string flag = "--repeats=";
  if (!arguments.empty() && arguments[0].starts_with(flag)) {
    settings.repeats = std::atoi(arguments[0].c_str() + flag.size());
    if (settings.repeats < 1) fail(ErrorKind::kUsage, "{} is not a number of at least 1.", arguments[0]);
    arguments.erase(arguments.begin());
  }
  auto command = config::parse_train_command(arguments, std::cerr);
  if (!command) std::exit(0);
  settings.command = std::move(*command);
  if (!settings.command.config.policy || settings.command.checkpoint) {
    fail(ErrorKind::kUsage, "update_floor measures a new run: give --policy.type and --dataset.root, not --resume.");
  }
  const std::string& precision = settings.command.config.accelerator.mixed_precision;
  if (precision != "no") {
    fail(ErrorKind::kUsage, "--accelerator.mixed_precision={}: update_floor measures float32 on the CPU only.",
         precision);
  }
  return settings;
}

/// Forward and backward of one batch, as the trainer makes them, with the recorder on. Returns the number of
/// parameters.
std::int64_t run_update(config::TrainCommand& command, Recorder& recorder) {
  config::TrainConfig& config = command.config;
  if (command.host.num_threads > 0) at::set_num_threads(static_cast<int>(command.host.num_threads));
  if (config.seed) train::seed_everything(*config.seed);
  const auto dataset = train::open_datasets(config, command.host.frame_cache_mb).train;
  train::fill_features(config, dataset->metadata());
  const Kernels kernels = train::choose_kernels(command.host.kernels, at::kCPU, accel::Precision::kFloat32).kernels;
  const auto policy = policy::make_policy(*config.policy, at::kCPU, kernels);
  const auto processors = policy::make_processors(
      *config.policy, train::training_stats(*dataset, config), at::kCPU,
      {ErrorKind::kData, (dataset->metadata().root() / dataset->metadata().layout().stats).string()});
  config.num_workers = 0;
  const auto loader = train::make_loader(dataset, config, {});
  const policy::Batch batch = processors.pre.normalize(train::to_tensors(loader->next(), at::kCPU, config.rename_map));
  policy->set_training(true);
  policy->forward(batch).total.backward();
  recorder.stop();
  std::int64_t parameters = 0;
  for (const auto& [name, parameter] : policy->parameters()) {
    if (parameter.grad().defined()) parameters += parameter.numel();
  }
  return parameters;
}

boost::json::object to_json(const Part& part) {
  return {{"seconds", part.seconds},
          {"gflop", part.gflop},
          {"gflop_per_s", part.seconds > 0 ? part.gflop / part.seconds : 0.0},
          {"calls", part.calls},
          {"distinct", part.distinct}};
}

void print(const char* name, double seconds, const std::string& detail) {
  std::fprintf(stderr, "  %-14s %8.4f s   %s\n", name, seconds, detail.c_str());
}

void print(const char* name, const Part& part) {
  char detail[160];
  std::snprintf(detail, sizeof detail, "%8.2f GFLOP at %6.1f GFLOP/s, %lld calls, %lld distinct", part.gflop,
                part.seconds > 0 ? part.gflop / part.seconds : 0.0, static_cast<long long>(part.calls),
                static_cast<long long>(part.distinct));
  print(name, part.seconds, detail);
}

void run(const std::vector<std::string>& arguments) {
  train::keep_freed_memory();
  Settings settings = read_arguments(arguments);
  Recorder recorder;
  const std::int64_t parameters = run_update(settings.command, recorder);
  const c10::NoGradGuard no_gradients;
  Part products, convolutions;
  for (const auto& [key, call] : recorder.calls()) {
    measure(call, settings.repeats, call.is_convolution() ? convolutions : products);
  }
  const Memory memory = measure_memory(parameters, settings.repeats);
  const double total = products.seconds + convolutions.seconds + memory.optimizer_s + memory.norm_s;

  const int threads = at::get_num_threads();
  std::fprintf(stderr, "floor of one update, %d threads, best of %d\n", threads, settings.repeats);
  print("products", products);
  print("convolutions", convolutions);
  print("optimizer", memory.optimizer_s, "parameters, gradients and moments through memory once");
  print("norm", memory.norm_s, "gradients read once");
  print("total", total, "elementwise work, dropout and normalization are not in it");
  std::cout << json::write_line(boost::json::object{{"total_s", total},
                                                    {"products", to_json(products)},
                                                    {"convolutions", to_json(convolutions)},
                                                    {"optimizer_s", memory.optimizer_s},
                                                    {"norm_s", memory.norm_s},
                                                    {"parameters", parameters},
                                                    {"threads", threads},
                                                    {"repeats", settings.repeats}})
            << std::endl;
}

}  // namespace
}  // namespace lerobot

int main(int argc, char** argv) {
  int code = 0;
  try {
    lerobot::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "update_floor: %s\n", error.what());
    code = 1;
  }
  std::fflush(nullptr);
  std::quick_exit(code);  // as the trainer ends: torch's threads may still run
}
