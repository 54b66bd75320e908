#include <chrono>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/text.h"
#include "host/hub/place_text.h"
#include "host/hub/store.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

class FolderStore : public Store {
 public:
  FolderStore(fs::path folder, std::string commit)
      : folder_(std::move(folder)), notes_(folder_ / ".cache/huggingface"), commit_(std::move(commit)) {}

  fs::path root() const override { return folder_; }
  fs::path listings() const override { return notes_; }

  bool provide(const RemoteFile& file) override {
    if (file.path.starts_with(".cache/")) {
      fail(ErrorKind::kData, "{}: the repository has a file where notes about downloads are kept: {}.",
           folder_.string(), file.path);
    }
    const fs::path path = folder_ / file.path;
    std::error_code ec;
    if (!fs::exists(path, ec)) return false;
    const std::string noted = noted_id(file);
    const bool fits = has_size(path, file.size);
    if (fits && noted == file.id()) return true;
    if (fits && noted.empty() && content_id(file, path) == file.id()) {
      write_note(file);
      return true;
    }
    if (!noted.empty()) return false;  // ours, of another commit
    fail(ErrorKind::kIo,
         "{}: is there already and is not the file of that name on the hub. Nothing is overwritten: move it away, or "
         "choose another folder.",
         path.string());
  }

  fs::path partial(const RemoteFile& file) const override { return note(file, "." + file.id() + ".incomplete"); }
  fs::path lock(const RemoteFile& file) const override { return note(file, ".lock"); }

  void place(const RemoteFile& file) override {
    const fs::path path = folder_ / file.path;
    make_parents(path);
    std::error_code ec;
    fs::rename(partial(file), path, ec);
    if (ec) fail(ErrorKind::kIo, "{}: cannot be moved into place: {}", path.string(), ec.message());
    write_note(file);
  }

 private:
  fs::path note(const RemoteFile& file, const std::string& ending) const {
    return notes_ / "download" / (file.path + ending);
  }

  /// The id that the content had when it was put there; empty when it was not by a download.
  std::string noted_id(const RemoteFile& file) const {
    const fs::path path = note(file, ".metadata");
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return "";
    const std::string text = read_text(path, ErrorKind::kIo);  // commit, id, time: a line each
    const std::size_t begin = text.find('\n') + 1;
    return begin == 0 ? "" : text.substr(begin, text.find('\n', begin) - begin);
  }

  void write_note(const RemoteFile& file) const {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    place_text(note(file, ".metadata"), format("{}\n{}\n{:.6f}\n", commit_, file.id(), now.count()));
    const fs::path ignore = notes_ / ".gitignore";
    std::error_code ignored;
    if (!fs::exists(ignore, ignored)) place_text(ignore, "*");
  }

  static std::string content_id(const RemoteFile& file, const fs::path& path) {
    const MappedFile content(path, ErrorKind::kIo);
    Digest digest = file.digest();
    digest.add({reinterpret_cast<const char*>(content.data()), content.size()});
    return digest.hex();
  }

  fs::path folder_, notes_;
  std::string commit_;
};

}  // namespace

std::unique_ptr<Store> folder_store(const fs::path& folder, const std::string& commit) {
  return std::make_unique<FolderStore>(fs::absolute(folder).lexically_normal(), commit);
}

}  // namespace lerobot::hub
