#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lerobot::report {

/// A TensorBoard event file: TFRecord framing (length, masked CRC32C, payload, masked CRC32C) around Event messages
/// with scalar summaries. Format: tensorflow/core/util/event.proto and lib/io/record_writer.
class EventFile {
 public:
  /// Creates `directory` and a new `events.out.tfevents.*` file in it. Throws Error(kIo).
  explicit EventFile(const std::filesystem::path& directory);

  /// Writes one event with a scalar `prefix/name` for each number of `record`, and flushes.
  void write(std::int64_t step, std::string_view prefix, const boost::json::object& record);

  const std::filesystem::path& path() const { return path_; }

 private:
  void write_record(const std::string& payload);

  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace lerobot::report
