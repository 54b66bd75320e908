#include "host/data/png_file.h"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <new>
#include <optional>

#include "host/base/error.h"
#include "host/data/planar.h"

namespace lerobot::data {
namespace {

/// What is not read yet.
struct Rest {
  const std::byte* next;
  std::size_t left;
};

void read_bytes(png_structp png, png_bytep out, png_size_t size) {
  auto* rest = static_cast<Rest*>(png_get_io_ptr(png));
  if (size > rest->left) png_error(png, "it ends too early");
  std::memcpy(out, rest->next, size);
  rest->next += size;
  rest->left -= size;
}

void ignore(png_structp /*png*/, png_const_charp /*warning*/) {}

[[noreturn]] void keep_and_return(png_structp png, png_const_charp error) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = error;
  png_longjmp(png, 1);
}

/// libpng leaves its functions by longjmp, which calls no destructor: each call that may is in a function of its own.
class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& file)
      : rest_{file.data(), file.size()},
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &error_, keep_and_return, ignore)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, &rest_, read_bytes);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_info(png_, info_);
    // Would take palettes for colours too.
    if (color_type() == PNG_COLOR_TYPE_GRAY && bits() < 8) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  bool read_rows(std::vector<png_bytep>& rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows.data());
    png_read_end(png_, nullptr);
    return true;
  }

  int width() const { return static_cast<int>(png_get_image_width(png_, info_)); }
  int height() const { return static_cast<int>(png_get_image_height(png_, info_)); }
  int bits() const { return png_get_bit_depth(png_, info_); }
  int color_type() const { return png_get_color_type(png_, info_); }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
  Rest rest_;
  png_structp png_;
  png_infop info_;
};

/// Of 8-bit pixels; nothing for kinds that are not read.
std::optional<int> channels_of(int color_type) {
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY:
      return 1;
    case PNG_COLOR_TYPE_RGB:
      return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return std::nullopt;
  }
}

const char* name_of(int color_type) {
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY:
      return "grey";
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return "grey with alpha";
    case PNG_COLOR_TYPE_PALETTE:
      return "a palette";
    case PNG_COLOR_TYPE_RGB:
      return "RGB";
    default:
      return "RGBA";
  }
}

/// PNG's 16-bit numbers are big-endian.
Buffer grey16(const std::vector<std::uint8_t>& pixels, int height, int width) {
  Buffer result = make_buffer(DType::kFloat32, {1, height, width});
  float* out = elements_of<float>(result);
  for (std::size_t i = 0; i < pixels.size(); i += 2) *out++ = static_cast<float>(pixels[i] << 8 | pixels[i + 1]);
  return result;
}

}  // namespace

std::string encode_png(const Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  if (png_image_write_to_memory(&image, file.data(), &size, 0, picture.pixels.data(), 0, nullptr) == 0) {
    fail(ErrorKind::kInternal, "the picture cannot be encoded as PNG: {}.", image.message);
  }
  file.resize(size);
  return file;
}

Buffer decode_png(const std::vector<std::byte>& file, const std::string& source) {
  constexpr std::size_t kMostOfAByte = 1032;  // what deflate can make of one
  Reader reader(file);
  const auto damaged = [&](std::string_view reason) {
    fail(ErrorKind::kData, "{}: the image ({} bytes) is damaged ({}).", source, file.size(), reason);
  };
  if (!reader.read_header()) damaged(reader.error());
  const auto channels = channels_of(reader.color_type());
  const bool is_grey16 = reader.bits() == 16 && reader.color_type() == PNG_COLOR_TYPE_GRAY;
  if (!is_grey16 && !(reader.bits() == 8 && channels)) {
    fail(ErrorKind::kData,
         "{}: an image of {} with {} bits is not supported, needed 8-bit RGB, RGBA or grey, or 16-bit grey.", source,
         name_of(reader.color_type()), reader.bits());
  }
  const auto height = static_cast<std::size_t>(reader.height());
  if (height * reader.row_bytes() > file.size() * kMostOfAByte) damaged("it is too short for its size in pixels");
  std::vector<std::uint8_t> pixels(height * reader.row_bytes());
  std::vector<png_bytep> rows;
  for (std::size_t y = 0; y < height; ++y) rows.push_back(pixels.data() + y * reader.row_bytes());
  if (!reader.read_rows(rows)) damaged(reader.error());
  if (is_grey16) return grey16(pixels, reader.height(), reader.width());
  return planar(pixels.data(), static_cast<int>(reader.row_bytes()), reader.height(), reader.width(), *channels);
}

}  // namespace lerobot::data
