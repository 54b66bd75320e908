#include "host/checkpoint/ema_file.h"

#include <c10/util/strides.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/checkpoint/pickle_writer.h"
#include "host/checkpoint/pth_tensors.h"
#include "host/checkpoint/tensor_file.h"
#include "host/checkpoint/zip_writer.h"

namespace lerobot::checkpoint {
namespace {

constexpr std::string_view kCure = "Choose another checkpoint, or remove the file: the average then starts anew.";
constexpr std::string_view kDecay = "decay";
constexpr std::string_view kMinDecay = "min_decay";
constexpr std::string_view kOptimizationStep = "optimization_step";
constexpr std::string_view kUpdateAfterStep = "update_after_step";
constexpr std::string_view kUseWarmup = "use_ema_warmup";
constexpr std::string_view kInvGamma = "inv_gamma";
constexpr std::string_view kPower = "power";
constexpr std::string_view kShadow = "shadow_params";

std::string describe(const pickle::Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, pickle::None>) return "None";
        if constexpr (std::is_same_v<Held, bool>) return held ? "True" : "False";
        if constexpr (std::is_same_v<Held, std::int64_t>) return std::to_string(held);
        if constexpr (std::is_same_v<Held, double>) return json::float_repr(held);
        if constexpr (std::is_same_v<Held, std::string>) return "a text";
        if constexpr (std::is_same_v<Held, pickle::List>) return "a list";
        if constexpr (std::is_same_v<Held, pickle::Tensor>) return "a tensor";
        return "something else";
      },
      value);
}

/// The file without its tensors' numbers, checked.
class EmaFile {
 public:
  explicit EmaFile(const std::filesystem::path& path) : file_(path, kCure) {
    settings_.decay = number(kDecay, 0, 1);
    settings_.min_decay = number(kMinDecay, 0, settings_.decay);
    settings_.optimization_step = count(kOptimizationStep);
    settings_.update_after_step = count(kUpdateAfterStep);
    settings_.inv_gamma = positive(kInvGamma);
    settings_.power = positive(kPower);
    const pickle::Value& warmup = value(kUseWarmup);
    if (const bool* on = std::get_if<bool>(&warmup); !on || !*on) refuse(kUseWarmup, warmup, "True");
    read_shadow();
  }

  const PthFile& file() const { return file_; }
  /// With an empty shadow.
  const EmaState& settings() const { return settings_; }
  const OrderedMap<pickle::Tensor>& shadow() const { return shadow_; }

 private:
  [[noreturn]] void refuse(std::string_view key, const pickle::Value& found, std::string_view needed) const {
    fail(ErrorKind::kCheckpoint, "{}: {} is {}, {} is needed. {}", file_.name(), key, describe(found), needed, kCure);
  }

  const pickle::Value& value(std::string_view key) const {
    const pickle::Ref* ref = file_.entries().find(key);
    if (!ref) fail(ErrorKind::kCheckpoint, "{}: holds no {}. {}", file_.name(), key, kCure);
    return file_.value(*ref);
  }

  /// Python writes a whole number where its user did.
  static double real(const pickle::Value& value) {
    if (const double* number = std::get_if<double>(&value)) return *number;
    if (const std::int64_t* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    return std::numeric_limits<double>::quiet_NaN();
  }

  double number(std::string_view key, double least, double most) const {
    const double out = real(value(key));
    if (!(out >= least && out <= most)) refuse(key, value(key), format("a number from {} to {}", least, most));
    return out;
  }

  double positive(std::string_view key) const {
    const double out = real(value(key));
    if (!std::isfinite(out) || out <= 0) refuse(key, value(key), "a finite number above 0");
    return out;
  }

  std::int64_t count(std::string_view key) const {
    const std::int64_t* out = std::get_if<std::int64_t>(&value(key));
    if (!out || *out < 0) refuse(key, value(key), "a whole number of at least 0");
    return *out;
  }

  void read_shadow() {
    const pickle::Value& found = value(kShadow);
    const auto* list = std::get_if<pickle::List>(&found);
    if (!list) refuse(kShadow, found, "a list of tensors");
    for (const pickle::Ref ref : list->items) {
      const std::string index = std::to_string(shadow_.size());
      const std::string name = format("{}[{}]", kShadow, index);
      const auto* tensor = std::get_if<pickle::Tensor>(&file_.value(ref));
      if (!tensor) refuse(name, file_.value(ref), "a tensor");
      file_.storage(*tensor, name);
      shadow_.append(index, *tensor);
    }
  }

  PthFile file_;
  EmaState settings_;
  OrderedMap<pickle::Tensor> shadow_;
};

std::string name_in(std::string_view entry) {
  return format("ema_state/{}", entry);
}

/// How torch describes a tensor that is alone in its storage.
pickle::Tensor describe_tensor(const std::string& key, DType dtype, const at::Tensor& tensor) {
  const c10::DimVector strides = c10::contiguous_strides(tensor.sizes());
  return {.storage = {.dtype = dtype, .key = key, .elements = tensor.numel()},
          .offset = 0,
          .shape = tensor.sizes().vec(),
          .strides = {strides.begin(), strides.end()}};
}

std::string pickled(const EmaState& state) {
  std::vector<pickle::Tensor> shadow;
  for (const auto& [name, tensor] : state.shadow) {
    shadow.push_back(describe_tensor(std::to_string(shadow.size()), file_type(name, tensor.scalar_type()), tensor));
  }
  pickle::DictWriter dict;  // in Python's order
  dict.add(kDecay, state.decay);
  dict.add(kMinDecay, state.min_decay);
  dict.add(kOptimizationStep, state.optimization_step);
  dict.add(kUpdateAfterStep, state.update_after_step);
  dict.add(kUseWarmup, true);
  dict.add(kInvGamma, state.inv_gamma);
  dict.add(kPower, state.power);
  dict.add(kShadow, shadow);
  return dict.finish();
}

}  // namespace

EmaState read_ema_state(const std::filesystem::path& path) {
  const EmaFile file(path);
  PthTensors tensors(file.file());
  EmaState out = file.settings();
  for (const auto& [index, tensor] : file.shadow()) {
    at::Tensor read = tensors.get(tensor, index);
    if (!read.isfinite().all().item<bool>()) {
      fail(ErrorKind::kCheckpoint, "{}: {}[{}] holds a value that is not finite. {}", path.string(), kShadow, index,
           kCure);
    }
    out.shadow.append(index, std::move(read));
  }
  return out;
}

void check_ema_file(const std::filesystem::path& path) {
  const EmaFile file(path);
}

void write_ema_state(const std::filesystem::path& path, const EmaState& state) {
  DurableFile file(path);
  write_ema_state(file, state);
  file.finish();
}

void write_ema_state(DurableFile& file, const EmaState& state) {
  ZipWriter zip(file);
  zip.add(name_in("data.pkl"), pickled(state));
  zip.add(name_in(".format_version"), "1");
  zip.add(name_in(".storage_alignment"), "64");
  zip.add(name_in("byteorder"), "little");
  std::size_t index = 0;
  for (const auto& [name, tensor] : state.shadow) {
    const at::Tensor here = on_host(tensor);
    zip.add(name_in(format("data/{}", index++)),
            Bytes(static_cast<const std::byte*>(here.const_data_ptr()), here.nbytes()));
  }
  zip.add(name_in("version"), "3\n");
  zip.finish();
}

std::uint64_t ema_file_size(const EmaState& state) {
  constexpr std::uint64_t kOneTensor = 400;  // its pickle, its two headers, its alignment
  constexpr std::uint64_t kRest = 2048;
  return kRest + total_bytes(state.shadow) + kOneTensor * state.shadow.size();
}

}  // namespace lerobot::checkpoint
