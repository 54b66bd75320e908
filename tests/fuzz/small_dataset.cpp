#include "tests/fuzz/small_dataset.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string_view>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/log.h"
#include "host/data/dataset.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::test {
namespace {

void write(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

class SmallDataset {
 public:
  SmallDataset() {
    log::init(log::Level::kError);
    data::SyntheticDataset dataset;
    dataset.episodes = {{.index = 0, .length = 3}, {.index = 2, .length = 4}};
    dataset.write(root());
    write(root() / "meta/stats.json", "{}");
  }

  const std::filesystem::path& root() const { return directory_.path(); }

 private:
  data::TempDirectory directory_;
};

void read_all(const data::Dataset& dataset) {
  constexpr std::int64_t kMost = 64;
  for (std::int64_t row = 0; row < std::min(dataset.num_frames(), kMost); ++row) {
    const data::Item item = dataset.item(row);
    require(item.tensors.size() == dataset.layout().size());
    require(!dataset.row_name(row).empty());
  }
}

}  // namespace

void open_with(const std::string& file, const std::uint8_t* data, std::size_t size) {
  static const SmallDataset sound;
  static std::map<std::string, std::string> originals;
  const std::filesystem::path path = sound.root() / file;
  const auto [original, is_new] = originals.try_emplace(file);
  if (is_new) original->second = read_text(path, ErrorKind::kIo);
  write(path, {reinterpret_cast<const char*>(data), size});
  try {
    data::DatasetOptions options;
    options.root = sound.root();
    read_all(data::Dataset(std::move(options)));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::kData);
  }
  write(path, original->second);
}

}  // namespace lerobot::test
