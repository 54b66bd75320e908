// Items of the recorded datasets against those that Python's LeRobotDataset gave.
#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <cstring>
#include <string>

#include "host/base/json.h"
#include "host/base/safetensors.h"
#include "host/data/dataset.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

const std::filesystem::path kData = LEROBOT_TEST_DATA;

OrderedMap<std::vector<double>> delta_timestamps(const bj::object& variant) {
  OrderedMap<std::vector<double>> result;
  for (const auto& entry : variant.at("delta_timestamps").as_object()) {
    result[entry.key()] = bj::value_to<std::vector<double>>(entry.value());
  }
  return result;
}

/// How many elements differ, and the largest difference for bytes.
std::string difference(const Buffer& found, const TensorView& expected) {
  if (found.dtype != expected.dtype) return "type " + std::string(safetensors_name(found.dtype));
  if (found.shape != expected.shape) return "shape " + shape_text(found.shape);
  if (std::memcmp(found.data.get(), expected.data, expected.bytes) == 0) return "";
  const std::size_t size = item_size(found.dtype);
  std::size_t count = 0;
  int largest = 0;
  for (std::size_t i = 0; i < expected.bytes; i += size) {
    if (std::memcmp(found.data.get() + i, expected.data + i, size) != 0) ++count;
    if (size == 1)
      largest = std::max(largest, std::abs(static_cast<int>(found.data[i]) - static_cast<int>(expected.data[i])));
  }
  return std::to_string(count) + " elements of " + std::to_string(found.elements()) + ", largest difference " +
         std::to_string(largest);
}

class Items : public testing::TestWithParam<std::string> {
 protected:
  bj::object golden() const {
    return json::read_file(kData / "goldens/datasets" / (GetParam() + ".json"), ErrorKind::kData).as_object();
  }
  Dataset open(const OrderedMap<std::vector<double>>& deltas) const {
    DatasetOptions options;
    options.root = kData / "datasets" / GetParam();
    options.delta_timestamps = deltas;
    return Dataset(std::move(options));
  }
};

TEST_P(Items, AreThoseOfPythonInEveryByte) {
  const bj::object about = golden();
  for (const auto& variant : about.at("variants").as_object()) {
    const bj::object& details = variant.value().as_object();
    const Dataset dataset = open(delta_timestamps(details));
    EXPECT_EQ(dataset.num_frames(), details.at("len").as_int64());
    const SafetensorsFile expected(kData / "goldens/datasets" / std::string(details.at("file").as_string()),
                                   ErrorKind::kData);
    std::size_t compared = 0;
    const bj::array& frames = about.at("frames").as_array();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::int64_t row = frames[i].as_int64();
      const Item item = dataset.item(row);
      for (const auto& [key, tensor] : item.tensors) {
        const std::string name = std::to_string(row) + "/" + key;
        EXPECT_EQ(difference(tensor, expected.at(name)), "") << variant.key() << " " << name;
        ++compared;
      }
      for (const auto& entry : details.at("strings").as_array()[i].as_object()) {
        ASSERT_NE(item.strings.find(entry.key()), nullptr) << entry.key();
        EXPECT_EQ(*item.strings.find(entry.key()), entry.value().as_string());
      }
    }
    EXPECT_EQ(compared, expected.tensors().size());
  }
}

TEST_P(Items, ListTheirTensorsInPythonsOrder) {
  const bj::object about = golden();
  const Dataset dataset = open(delta_timestamps(about.at("variants").as_object().at("act").as_object()));
  for (const auto& frame : about.at("float_items").as_object()) {
    std::vector<std::string> expected, found;
    for (const auto& entry : frame.value().as_object()) expected.emplace_back(entry.key());
    const Item item = dataset.item(std::stoll(std::string(frame.key())));
    for (const auto& entry : item.tensors) found.push_back(entry.first);
    EXPECT_EQ(found, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Items,
                         testing::Values("pusht_sim", "pusht_sim_h264", "pusht_image", "pusht_keypoints", "aloha_sim"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace lerobot::data
