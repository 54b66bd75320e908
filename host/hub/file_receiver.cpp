#include "host/hub/file_receiver.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "host/base/file.h"
#include "host/base/log.h"
#include "host/hub/place_text.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr std::uint64_t kFlushedSize = std::uint64_t{1} << 20U;

/// The value of an ETag: W/"x" and "x" are x.
std::string bare_etag(std::string text) {
  if (text.starts_with("W/")) text.erase(0, 2);
  std::erase(text, '"');
  return text;
}

bool is_number(const std::string& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

}  // namespace

FileReceiver::FileReceiver(const Source& source, Store& store, RemoteFile file, FileLock lock,
                           std::function<void(std::int64_t)> progress)
    : source_(source),
      store_(store),
      file_(std::move(file)),
      lock_(std::move(lock)),
      progress_(std::move(progress)),
      digest_(file_.digest()) {
  const fs::path path = store_.partial(file_);
  make_parents(path);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) fail_disk("opened", errno);
  read_part();
}

FileReceiver::~FileReceiver() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileReceiver::read_part() {
  std::vector<char> piece(kPiece);
  while (true) {
    const ssize_t got = ::read(descriptor_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_disk("read", errno);
    if (got == 0) return;
    const auto size = static_cast<std::size_t>(got);
    if (offset_ + size > file_.size) {
      restart();
      return;
    }
    digest_.add({piece.data(), size});
    offset_ += size;
    progress_(got);
  }
}

void FileReceiver::restart() {
  progress_(-static_cast<std::int64_t>(offset_));
  offset_ = 0;
  digest_ = file_.digest();
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) fail_disk("emptied", errno);
}

void FileReceiver::check_origin(const Response& origin) const {
  const auto differs = [&](const std::string& what, const std::string& found, const std::string& needed) {
    fail(source_.kind, "{}: {}: the server has another {} than its list: found {}, needed {}. Try again later.",
         source_.name, file_.path, what, found, needed);
  };
  const std::string commit = origin.header("x-repo-commit");
  if (!commit.empty() && commit != source_.commit) differs("commit", commit, source_.commit);
  std::string etag = bare_etag(origin.header("x-linked-etag"));
  const std::string plain = bare_etag(origin.header("etag"));
  if (etag.empty() && is_sha1(plain)) etag = plain;  // others are checksums of who knows what
  if (!etag.empty() && etag != file_.id() && etag != file_.blob_id) differs("content", etag, file_.id());
  const std::string size = origin.header("x-linked-size");
  if (!size.empty() && size != std::to_string(file_.size)) differs("size", size, std::to_string(file_.size));
}

void FileReceiver::begin(const Response& origin, const Response& response, std::uint64_t from) {
  check_origin(origin);
  if (from != offset_) {
    if (from != 0) {
      fail(source_.kind, "{}: {}: the server sends bytes from {} on, needed {}. Try again later.", source_.name,
           file_.path, from, offset_);
    }
    restart();  // it sends all of it, whatever was asked for
  }
  std::uint64_t length = 0;
  if (is_number(response.header("content-length"), length) && length != file_.size - offset_) {
    fail(source_.kind,
         "{}: {}: wrong size: the server sends {} bytes, needed {}. Is a proxy or a login page in between? Try again "
         "later.",
         source_.name, file_.path, length, file_.size - offset_);
  }
}

void FileReceiver::add(std::string_view bytes) {
  if (offset_ + bytes.size() > file_.size) {
    restart();
    fail(source_.kind, "{}: {}: wrong size: the server sends more than the {} bytes that it lists. Try again later.",
         source_.name, file_.path, file_.size);
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_disk("written", errno);
    const auto size = static_cast<std::size_t>(written);
    digest_.add(bytes.substr(0, size));
    offset_ += size;
    progress_(written);
    bytes.remove_prefix(size);
  }
}

FileReceiver::End FileReceiver::end() {
  if (offset_ < file_.size) return End::kIncomplete;
  if (const std::string found = digest_.hex(); found != file_.id()) {
    restart();
    if (was_worthless_) {
      fail(source_.kind,
           "{}: {}: the content is not what the server lists: its hash is {}, needed {}. Try again later.",
           source_.name, file_.path, found, file_.id());
    }
    log::warn("{}: {}: what came is damaged and is downloaded again", source_.name, file_.path);
    was_worthless_ = true;
    return End::kWorthless;
  }
  // A power failure must not leave a name without its content. Of small files there may be thousands: one that was not
  // written is shorter, and is seen by that.
  if (file_.size >= kFlushedSize && ::fsync(descriptor_) != 0 && errno != EINVAL) fail_disk("flushed to disk", errno);
  store_.place(file_);
  return End::kDone;
}

void FileReceiver::fail_disk(const char* what, int error) const {
  const fs::path path = store_.partial(file_);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    fail(ErrorKind::kIo,
         "{}: cannot be {}: {} ({} more bytes needed, {} free). Make room, or set HF_HOME (datasets: HF_LEROBOT_HOME) "
         "to a larger disk; what has come is kept.",
         path.string(), what, std::strerror(error), file_.size - offset_, free_bytes(path));
  }
  fail(ErrorKind::kIo, "{}: cannot be {}: {}", path.string(), what, std::strerror(error));
}

}  // namespace lerobot::hub
