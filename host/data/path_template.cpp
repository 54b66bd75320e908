#include "host/data/path_template.h"

#include <filesystem>
#include <optional>

#include "host/base/error.h"

namespace lerobot::data {
namespace {

constexpr std::string_view kVideoKey = "video_key";

struct Field {
  std::string name;
  std::size_t width = 0;
};

/// `chunk_index` or `chunk_index:03d`.
std::optional<Field> parse_field(std::string_view text, const PathFields& fields) {
  const std::size_t colon = text.find(':');
  Field field{std::string(text.substr(0, colon)), 0};
  if (field.name != fields.chunk && field.name != fields.file && field.name != kVideoKey) return std::nullopt;
  if (colon == std::string_view::npos) return field;
  const std::string_view spec = text.substr(colon + 1);
  if (field.name == kVideoKey || spec.size() != 3 || spec[0] != '0' || spec[1] < '1' || spec[1] > '9' ||
      spec[2] != 'd') {
    return std::nullopt;
  }
  field.width = static_cast<std::size_t>(spec[1] - '0');
  return field;
}

std::string padded(std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

/// Calls visit(literal, field) for each piece; a field of nothing at the end. False if the text is not a template.
template <class Visit>
bool for_each_piece(std::string_view text, const PathFields& fields, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open == std::string_view::npos) {
      visit(text, nullptr);
      return text.find('}') == std::string_view::npos;
    }
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return false;
    const std::optional<Field> field = parse_field(text.substr(open + 1, close - open - 1), fields);
    if (!field) return false;
    visit(text.substr(0, open), &*field);
    text.remove_prefix(close + 1);
  }
  return true;
}

}  // namespace

PathTemplate::PathTemplate(std::string text, std::string_view key, const PathFields& fields)
    : text_(std::move(text)), fields_(fields) {
  if (!for_each_piece(text_, fields_, [](std::string_view, const Field*) {})) {
    fail(ErrorKind::kData,
         "meta/info.json: {} is \"{}\", needed a path with the fields {{{}:03d}}, {{{}:03d}} and {{{}}} only.", key,
         text_, fields_.chunk, fields_.file, kVideoKey);
  }
  const std::filesystem::path sample(path(0, 0, "key"));
  bool leaves_root = sample.is_absolute();
  for (const auto& part : sample) leaves_root = leaves_root || part == "..";
  if (leaves_root) fail(ErrorKind::kData, "meta/info.json: {} is \"{}\", which leaves the dataset.", key, text_);
}

std::string PathTemplate::path(std::int64_t chunk, std::int64_t file, std::string_view video_key) const {
  std::string result;
  for_each_piece(text_, fields_, [&](std::string_view literal, const Field* field) {
    result += literal;
    if (field == nullptr) return;
    if (field->name == kVideoKey) {
      result += video_key;
    } else {
      result += padded(field->name == fields_.chunk ? chunk : file, field->width);
    }
  });
  return result;
}

}  // namespace lerobot::data
