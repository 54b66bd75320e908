#include "plugins/rocm/visibility.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

namespace lerobot::plugins::rocm {
namespace {

const std::vector<sdk::Variable> kValues = {
    {false, ""}, {true, ""}, {true, "0"}, {true, "1"}, {true, "0,1"}, {true, "-1"}, {true, "GPU-1111111111111111"}};

std::string shown(const sdk::Variable& variable) {
  return variable.set ? "'" + variable.value + "'" : "-";
}

std::string row(const Visibility& v) {
  return shown(v.rocr) + " " + shown(v.hip) + " " + shown(v.cuda) + " | " + applied_variables(v) + " | " +
         visibility_remark(v);
}

/// Unset, empty, 0, 1, both, -1 and a UUID for each of the three variables.
TEST(AmdVisibility, OfEveryCombinationIsAsInTheTable) {
  std::ifstream file(LEROBOT_TEST_DATA "/visibility/rocm.txt");
  std::vector<std::string> expected;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') expected.push_back(line);
  }
  std::vector<std::string> rows;
  for (const auto& rocr : kValues) {
    for (const auto& hip : kValues) {
      for (const auto& cuda : kValues) rows.push_back(row({rocr, hip, cuda}));
    }
  }
  ASSERT_EQ(rows.size(), 343u);
  ASSERT_EQ(expected.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], expected[i]);
}

}  // namespace
}  // namespace lerobot::plugins::rocm
