#include "host/data/binary_column.h"

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "host/base/error.h"
#include "host/data/arrow_error.h"

namespace lerobot::data {
namespace {

/// Marks the keys of pages in the cache, which holds decoded frames too.
constexpr std::uint64_t kPageKeys = std::uint64_t{1} << 63;

/// A part of a file as a stream that can pass over bytes without reading them.
class FileStream : public arrow::io::InputStream {
 public:
  FileStream(std::shared_ptr<arrow::io::RandomAccessFile> file, std::int64_t begin, std::int64_t end)
      : file_(std::move(file)), position_(begin), end_(end) {}

  /// The next Read passes over its bytes. (Advance, which is not virtual, calls Read.)
  void pass_over_next() { pass_over_ = true; }
  /// Where the last Peek looked: page readers peek at each header once or more before they go on.
  std::int64_t peek_position() const { return peek_position_; }

  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<std::int64_t> Tell() const override { return position_; }

  arrow::Result<std::string_view> Peek(std::int64_t bytes) override {
    peek_position_ = position_;
    ARROW_ASSIGN_OR_RAISE(peeked_, file_->ReadAt(position_, clamp(bytes)));
    return std::string_view(*peeked_);
  }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t read, file_->ReadAt(position_, clamp(bytes), out));
    position_ += read;
    return read;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    if (pass_over_) {
      pass_over_ = false;
      position_ += clamp(bytes);
      return std::make_shared<arrow::Buffer>(nullptr, 0);
    }
    ARROW_ASSIGN_OR_RAISE(auto buffer, file_->ReadAt(position_, clamp(bytes)));
    position_ += buffer->size();
    return buffer;
  }

 private:
  std::int64_t clamp(std::int64_t bytes) const { return std::min(bytes, end_ - position_); }

  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::int64_t position_;
  std::int64_t end_;
  std::int64_t peek_position_ = 0;
  std::shared_ptr<arrow::Buffer> peeked_;
  bool pass_over_ = false;
};

/// Where a data page is: its header's offset in the file, and its rows.
struct Page {
  std::int64_t offset = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
};

/// The column's chunk in one row group. Pages are looked for when the chunk is first used.
struct Chunk {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t begin = 0, end = 0;  ///< bytes in the file
  bool has_dictionary = false;
  parquet::Compression::type codec = parquet::Compression::UNCOMPRESSED;
  std::once_flag scanned;
  std::vector<Page> pages;
};

/// Hands out pages that were read before.
class HeldPages : public parquet::PageReader {
 public:
  explicit HeldPages(std::vector<std::shared_ptr<parquet::Page>> pages) : pages_(std::move(pages)) {}
  std::shared_ptr<parquet::Page> NextPage() override { return next_ < pages_.size() ? pages_[next_++] : nullptr; }
  void set_max_page_header_size(std::uint32_t) override {}

 private:
  std::vector<std::shared_ptr<parquet::Page>> pages_;
  std::size_t next_ = 0;
};

}  // namespace

struct BinaryColumn::Impl {
  std::filesystem::path path;
  std::string relative_path;
  std::string leaf;
  std::uint64_t id = 0;
  std::shared_ptr<ByteCache> cache;
  std::shared_ptr<parquet::FileMetaData> metadata;
  int leaf_index = -1;
  std::vector<std::unique_ptr<Chunk>> chunks;

  const parquet::ColumnDescriptor& descriptor() const { return *metadata->schema()->Column(leaf_index); }

  std::shared_ptr<arrow::io::ReadableFile> open() const {
    return unwrap(arrow::io::ReadableFile::Open(path.string()), relative_path);
  }

  void add_chunk(int group) {
    const auto group_metadata = metadata->RowGroup(group);
    const auto column = group_metadata->ColumnChunk(leaf_index);
    auto chunk = std::make_unique<Chunk>();
    chunk->first_row = chunks.empty() ? 0 : chunks.back()->first_row + chunks.back()->rows;
    chunk->rows = group_metadata->num_rows();
    chunk->has_dictionary = column->has_dictionary_page();
    chunk->begin = column->data_page_offset();
    if (chunk->has_dictionary) chunk->begin = std::min(chunk->begin, column->dictionary_page_offset());
    chunk->end = chunk->begin + column->total_compressed_size();
    chunk->codec = column->compression();
    chunks.push_back(std::move(chunk));
  }

  Chunk& chunk_of(std::int64_t row) const {
    const auto after = std::upper_bound(chunks.begin(), chunks.end(), row,
                                        [](std::int64_t r, const auto& chunk) { return r < chunk->first_row; });
    return **std::prev(after);
  }

  std::unique_ptr<parquet::PageReader> read_pages(std::shared_ptr<FileStream> stream, const Chunk& chunk,
                                                  std::int64_t values) const {
    return parquet::PageReader::Open(std::move(stream), values, chunk.codec, parquet::default_reader_properties(),
                                     descriptor());
  }

  /// Reads the headers of all pages of a chunk, without the pages' bodies.
  void scan(Chunk& chunk) const {
    auto stream = std::make_shared<FileStream>(open(), chunk.begin, chunk.end);
    auto reader = read_pages(stream, chunk, chunk.rows);
    chunk.pages.clear();
    std::int64_t row = 0;
    reader->set_data_page_filter([&](const parquet::DataPageStats& stats) {
      chunk.pages.push_back({stream->peek_position(), row, stats.num_values});
      row += stats.num_values;
      stream->pass_over_next();
      return true;
    });
    while (reader->NextPage() != nullptr) {
    }
    if (row != chunk.rows) fail_parquet(relative_path, "pages of column " + leaf + " are missing");
  }

  std::shared_ptr<parquet::Page> read_page(const Chunk& chunk, std::int64_t offset, std::int64_t values) const {
    const auto make = [&]() -> ByteCache::Value {
      auto page = read_pages(std::make_shared<FileStream>(open(), offset, chunk.end), chunk, values)->NextPage();
      if (page == nullptr) fail_parquet(relative_path, "a page of column " + leaf + " is missing");
      const auto bytes = static_cast<std::size_t>(page->size());
      return {std::move(page), bytes};
    };
    const std::uint64_t key = kPageKeys | id << 40 | static_cast<std::uint64_t>(offset);
    // Readers take pages as not const, and do not change them.
    return std::static_pointer_cast<parquet::Page>(std::const_pointer_cast<void>(cache->get(key, make)));
  }

  /// One value out of a page.
  std::vector<std::byte> read_value(const Chunk& chunk, const Page& page, std::int64_t row_in_page) const {
    std::vector<std::shared_ptr<parquet::Page>> pages;
    if (chunk.has_dictionary) pages.push_back(read_page(chunk, chunk.begin, page.rows));
    pages.push_back(read_page(chunk, page.offset, page.rows));
    auto column = parquet::ColumnReader::Make(&descriptor(), std::make_unique<HeldPages>(std::move(pages)));
    auto& reader = static_cast<parquet::ByteArrayReader&>(*column);
    std::int16_t definition = 0;
    std::int64_t values = 0;
    parquet::ByteArray value;
    reader.Skip(row_in_page);
    reader.ReadBatch(1, &definition, nullptr, &value, &values);
    std::vector<std::byte> bytes(values == 0 ? 0 : value.len);
    if (!bytes.empty()) std::memcpy(bytes.data(), value.ptr, bytes.size());
    return bytes;
  }
};

BinaryColumn::BinaryColumn(const std::filesystem::path& root, std::string relative_path, std::string leaf,
                           std::uint64_t id, std::shared_ptr<ByteCache> cache)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = root / relative_path;
  impl_->relative_path = std::move(relative_path);
  impl_->leaf = std::move(leaf);
  impl_->id = id;
  impl_->cache = std::move(cache);
  guard_parquet(impl_->relative_path, [&] {
    impl_->metadata = parquet::ParquetFileReader::Open(impl_->open())->metadata();
    const parquet::SchemaDescriptor& schema = *impl_->metadata->schema();
    for (int i = 0; i < schema.num_columns(); ++i) {
      const parquet::ColumnDescriptor& column = *schema.Column(i);
      if (column.path()->ToDotString() == impl_->leaf && column.physical_type() == parquet::Type::BYTE_ARRAY &&
          column.max_repetition_level() == 0) {
        impl_->leaf_index = i;
      }
    }
    if (impl_->leaf_index < 0) {
      fail(ErrorKind::kData, "{}: column {} is missing or does not hold the bytes of one image per row.",
           impl_->relative_path, impl_->leaf);
    }
    for (int group = 0; group < impl_->metadata->num_row_groups(); ++group) impl_->add_chunk(group);
  });
}

BinaryColumn::~BinaryColumn() = default;
BinaryColumn::BinaryColumn(BinaryColumn&&) noexcept = default;
BinaryColumn& BinaryColumn::operator=(BinaryColumn&&) noexcept = default;

std::vector<std::byte> BinaryColumn::row(std::int64_t row) const {
  return guard_parquet(impl_->relative_path, [&] {
    Chunk& chunk = impl_->chunk_of(row);
    std::call_once(chunk.scanned, [&] { impl_->scan(chunk); });
    const std::int64_t row_in_chunk = row - chunk.first_row;
    const auto after = std::upper_bound(chunk.pages.begin(), chunk.pages.end(), row_in_chunk,
                                        [](std::int64_t r, const Page& page) { return r < page.first_row; });
    const Page& page = *std::prev(after);
    return impl_->read_value(chunk, page, row_in_chunk - page.first_row);
  });
}

}  // namespace lerobot::data
