// Any bytes as a dataset's info.json (first byte even) or stats.json (odd).
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small_dataset.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  lerobot::test::open_with(data[0] % 2 == 0 ? "meta/info.json" : "meta/stats.json", data + 1, size - 1);
  return 0;
}
