#include "host/train/sample_check.h"

#include <ATen/ops/isfinite.h>

#include "host/base/text.h"
#include "host/data/loader.h"
#include "host/train/batch.h"

namespace lerobot::train {
namespace {

constexpr std::size_t kMaxNamed = 8;

/// "features a, b of row 7 (episode 0, frame 7)", or nothing.
std::string not_finite(const data::Dataset& dataset, std::int64_t row) {
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : to_tensors(data::collate({dataset.item(row)}), at::kCPU, {})) {
    if (!at::isfinite(tensor).all().item<bool>()) keys.push_back(key);
  }
  return keys.empty() ? "" : join(keys, ", ") + " of " + dataset.row_name(row);
}

}  // namespace

std::string examine_samples(const data::Dataset& dataset, const std::vector<std::int64_t>& rows) {
  std::vector<std::string> names, bad;
  for (const std::int64_t row : rows) {
    if (names.size() < kMaxNamed) names.push_back(dataset.row_name(row));
    if (std::string found = not_finite(dataset, row); !found.empty() && bad.size() < kMaxNamed) bad.push_back(found);
  }
  if (rows.size() > names.size()) names.push_back(format("and {} more", rows.size() - names.size()));
  const std::string which = "Its samples: " + join(names, ", ") + ". ";
  if (bad.empty()) return which + "Their values are finite: a smaller learning rate may help.";
  return which + "Not finite: " + join(bad, "; ") + ". Correct the dataset, or leave these episodes out.";
}

}  // namespace lerobot::train
