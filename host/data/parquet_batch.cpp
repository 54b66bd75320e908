#include <arrow/api.h>

#include <cmath>

#include "host/base/error.h"
#include "host/data/parquet_file.h"

namespace lerobot::data {
namespace {

/// A column of a batch, with the names that messages need.
struct Column {
  std::shared_ptr<arrow::Array> array;
  std::string_view name;
  std::string_view file;
};

Column find_column(const void* batch, std::string_view name, std::string_view file) {
  auto array = static_cast<const arrow::RecordBatch*>(batch)->GetColumnByName(std::string(name));
  if (array == nullptr) fail(ErrorKind::kData, "{}: column {} is missing.", file, name);
  return {std::move(array), name, file};
}

void refuse_nulls(const arrow::Array& array, const Column& column) {
  if (array.null_count() == 0) return;
  fail(ErrorKind::kData, "{}: column {} has {} empty values (null), needed a value in every row.", column.file,
       column.name, array.null_count());
}

/// The values of lists that all have the same length, which is returned too. `List` has value_offset and value_length.
template <class List>
std::shared_ptr<arrow::Array> even_values(const List& list, std::int64_t& length, const Column& column) {
  length = list.length() == 0 ? 0 : list.value_length(0);
  for (std::int64_t i = 1; i < list.length(); ++i) {
    if (list.value_length(i) != length) {
      fail(ErrorKind::kData, "{}: column {} has lists of different lengths ({} and {}), needed equal ones.",
           column.file, column.name, length, static_cast<std::int64_t>(list.value_length(i)));
    }
  }
  const std::int64_t begin = list.length() == 0 ? 0 : list.value_offset(0);
  return list.values()->Slice(begin, length * list.length());
}

/// Takes lists off until numbers are left; `width` becomes the count per row.
std::shared_ptr<arrow::Array> flatten(const Column& column, std::int64_t& width) {
  std::shared_ptr<arrow::Array> array = column.array;
  width = 1;
  while (true) {
    refuse_nulls(*array, column);
    std::int64_t length = 1;
    switch (array->type_id()) {
      case arrow::Type::LIST:
        array = even_values(static_cast<const arrow::ListArray&>(*array), length, column);
        break;
      case arrow::Type::LARGE_LIST:
        array = even_values(static_cast<const arrow::LargeListArray&>(*array), length, column);
        break;
      case arrow::Type::FIXED_SIZE_LIST:
        array = even_values(static_cast<const arrow::FixedSizeListArray&>(*array), length, column);
        break;
      case arrow::Type::EXTENSION:
        array = static_cast<const arrow::ExtensionArray&>(*array).storage();
        break;
      default:
        return array;
    }
    width *= length;
  }
}

template <class Array, class To>
void copy_values(const arrow::Array& array, To* out) {
  const auto& typed = static_cast<const Array&>(array);
  for (std::int64_t i = 0; i < typed.length(); ++i) out[i] = static_cast<To>(typed.Value(i));
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const int exponent = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ffu;
  const float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                          : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                           : std::ldexp(static_cast<float>(fraction | 0x400u), exponent - 25);
  return sign == 0 ? magnitude : -magnitude;
}

/// False when the column's type cannot become To.
template <class To>
bool copy_integers(const arrow::Array& array, To* out) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      copy_values<arrow::BooleanArray>(array, out);
      return true;
    case arrow::Type::INT8:
      copy_values<arrow::Int8Array>(array, out);
      return true;
    case arrow::Type::INT16:
      copy_values<arrow::Int16Array>(array, out);
      return true;
    case arrow::Type::INT32:
      copy_values<arrow::Int32Array>(array, out);
      return true;
    case arrow::Type::INT64:
      copy_values<arrow::Int64Array>(array, out);
      return true;
    case arrow::Type::UINT8:
      copy_values<arrow::UInt8Array>(array, out);
      return true;
    case arrow::Type::UINT16:
      copy_values<arrow::UInt16Array>(array, out);
      return true;
    case arrow::Type::UINT32:
      copy_values<arrow::UInt32Array>(array, out);
      return true;
    case arrow::Type::UINT64:
      copy_values<arrow::UInt64Array>(array, out);
      return true;
    default:
      return false;
  }
}

template <class To>
bool copy_floats(const arrow::Array& array, To* out) {
  switch (array.type_id()) {
    case arrow::Type::FLOAT:
      copy_values<arrow::FloatArray>(array, out);
      return true;
    case arrow::Type::DOUBLE:
      copy_values<arrow::DoubleArray>(array, out);
      return true;
    case arrow::Type::HALF_FLOAT: {
      const auto& typed = static_cast<const arrow::HalfFloatArray&>(array);
      for (std::int64_t i = 0; i < typed.length(); ++i) out[i] = static_cast<To>(half_to_float(typed.Value(i)));
      return true;
    }
    default:
      return copy_integers(array, out);
  }
}

bool convert(const arrow::Array& array, const Buffer& out) {
  switch (out.dtype) {
    case DType::kBool:
      return array.type_id() == arrow::Type::BOOL && copy_integers(array, elements_of<bool>(out));
    case DType::kInt64:
      return copy_integers(array, elements_of<std::int64_t>(out));
    case DType::kFloat32:
      return copy_floats(array, elements_of<float>(out));
    case DType::kFloat64:
      return copy_floats(array, elements_of<double>(out));
    default:
      return false;
  }
}

template <class Array>
std::vector<std::string> copy_strings(const arrow::Array& array) {
  const auto& typed = static_cast<const Array&>(array);
  std::vector<std::string> result;
  result.reserve(static_cast<std::size_t>(typed.length()));
  for (std::int64_t i = 0; i < typed.length(); ++i) result.emplace_back(typed.GetView(i));
  return result;
}

std::vector<std::string> strings_of(const arrow::Array& array, const Column& column) {
  refuse_nulls(array, column);
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return copy_strings<arrow::StringArray>(array);
    case arrow::Type::LARGE_STRING:
      return copy_strings<arrow::LargeStringArray>(array);
    default:
      fail(ErrorKind::kData, "{}: column {} holds {}, needed text.", column.file, column.name,
           array.type()->ToString());
  }
}

template <class List>
std::vector<std::vector<std::string>> copy_string_lists(const List& list, const Column& column) {
  std::vector<std::vector<std::string>> result;
  for (std::int64_t i = 0; i < list.length(); ++i) {
    result.push_back(list.IsNull(i) ? std::vector<std::string>{} : strings_of(*list.value_slice(i), column));
  }
  return result;
}

}  // namespace

std::int64_t ParquetBatch::rows() const {
  return static_cast<const arrow::RecordBatch*>(batch_)->num_rows();
}

Buffer ParquetBatch::numbers(std::string_view name, std::int64_t width, DType type) const {
  const Column column = find_column(batch_, name, file_);
  std::int64_t found = 1;
  const std::shared_ptr<arrow::Array> values = flatten(column, found);
  if (rows() > 0 && found != width) {
    fail(ErrorKind::kData, "{}: column {} has {} numbers per row, needed {} by the dataset's description.", file_, name,
         found, width);
  }
  Buffer result = make_buffer(type, {rows(), width});
  if (!convert(*values, result)) {
    fail(ErrorKind::kData, "{}: column {} holds {}, needed {} by the dataset's description.", file_, name,
         values->type()->ToString(), safetensors_name(type));
  }
  return result;
}

std::vector<std::string> ParquetBatch::strings(std::string_view name) const {
  const Column column = find_column(batch_, name, file_);
  return strings_of(*column.array, column);
}

std::vector<std::vector<std::string>> ParquetBatch::string_lists(std::string_view name) const {
  const Column column = find_column(batch_, name, file_);
  switch (column.array->type_id()) {
    case arrow::Type::LIST:
      return copy_string_lists(static_cast<const arrow::ListArray&>(*column.array), column);
    case arrow::Type::LARGE_LIST:
      return copy_string_lists(static_cast<const arrow::LargeListArray&>(*column.array), column);
    default:
      fail(ErrorKind::kData, "{}: column {} holds {}, needed lists of text.", file_, name,
           column.array->type()->ToString());
  }
}

}  // namespace lerobot::data
