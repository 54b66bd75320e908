// Any bytes as one of a dataset's parquet files: the first byte says which.
#include <array>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small_dataset.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kFiles{"meta/tasks.parquet", "meta/episodes/chunk-000/file-000.parquet",
                              "data/chunk-000/file-000.parquet"};
  if (size == 0) return 0;
  lerobot::test::open_with(kFiles[data[0] % kFiles.size()], data + 1, size - 1);
  return 0;
}
