#include "host/report/metrics.h"

#include <array>

#include "host/base/format.h"

namespace lerobot::report {

Metrics::Metrics(const RunSize& size, std::int64_t start_step) : size_(size), steps_(start_step) {
  add_meter("loss", "loss", "{:.3f}");
  add_meter("grad_norm", "grdn", "{:.3f}");
  add_meter("lr", "lr", "{:.1e}");
  add_meter("dataloading_s", "data_s", "{:.3f}");
  add_meter("preprocessing_s", "prep_s", "{:.3f}");
  add_meter("update_s", "updt_s", "{:.3f}");
  add_meter("step_s", "step_s", "{:.3f}");
  add_meter("samples_per_s", "smp/s", "{:.0f}");
}

void Metrics::add_meter(std::string_view name, std::string_view label, std::string_view pattern) {
  meters_[name] = Meter{.label = std::string(label), .pattern = std::string(pattern)};
}

void Metrics::add(std::string_view name, double value) {
  Meter* meter = meters_.find(name);
  if (!meter) {
    meter = &meters_[name];
    meter->label = name;
    meter->pattern = "{:.3f}";
  }
  meter->sum += value;
  ++meter->count;
}

void Metrics::add_detail(std::string_view name, double value) {
  add(name, value);
  meters_.find(name)->in_line = false;
}

double Metrics::epochs() const {
  return size_.num_frames == 0 ? 0.0 : static_cast<double>(samples()) / static_cast<double>(size_.num_frames);
}

double Metrics::episodes() const {
  return epochs() * static_cast<double>(size_.num_episodes);
}

double Metrics::average(std::string_view name) const {
  const Meter* meter = meters_.find(name);
  return meter ? meter->average() : 0.0;
}

void Metrics::finish_window() {
  const double step_s = average("step_s");
  if (step_s > 0) add("samples_per_s", static_cast<double>(size_.samples_per_step) / step_s);
}

std::string Metrics::line() const {
  std::string out = format("step:{} smpl:{} ep:{} epch:{:.2f}", format_big_number(static_cast<double>(steps_)),
                           format_big_number(static_cast<double>(samples())), format_big_number(episodes()), epochs());
  for (const auto& [name, meter] : meters_) {
    if (meter.in_line) out += " " + meter.label + ":" + format(meter.pattern, meter.average());
  }
  return out;
}

boost::json::object Metrics::record() const {
  boost::json::object out{{"step", steps_}, {"samples", samples()}, {"episodes", episodes()}, {"epochs", epochs()}};
  for (const auto& [name, meter] : meters_) out[name] = meter.average();
  return out;
}

void Metrics::start_window() {
  for (auto& [name, meter] : meters_) {
    meter.sum = 0;
    meter.count = 0;
  }
}

std::string format_big_number(double number) {
  constexpr std::array<const char*, 6> kSuffixes{"", "K", "M", "B", "T", "Q"};
  std::size_t i = 0;
  while ((number >= 1000 || number <= -1000) && i + 1 < kSuffixes.size()) {
    number /= 1000;
    ++i;
  }
  return format("{:.0f}{}", number, kSuffixes[i]);
}

}  // namespace lerobot::report
