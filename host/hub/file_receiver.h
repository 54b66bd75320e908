#pragma once

#include <functional>

#include "host/base/digest.h"
#include "host/hub/download.h"
#include "host/hub/http.h"
#include "host/hub/store.h"

namespace lerobot::hub {

/// Gathers one file in its partial file, and puts it in its place when it is whole.
class FileReceiver : public Receiver {
 public:
  /// Opens the partial file and reads what an earlier download has left in it. `progress` gets numbers of bytes,
  /// negative ones for bytes that are thrown away. Throws Error(kIo).
  FileReceiver(const Source& source, Store& store, RemoteFile file, FileLock lock,
               std::function<void(std::int64_t)> progress);
  ~FileReceiver() override;
  FileReceiver(const FileReceiver&) = delete;
  FileReceiver& operator=(const FileReceiver&) = delete;

  std::uint64_t offset() const override { return offset_; }
  void begin(const Response& origin, const Response& response, std::uint64_t from) override;
  void add(std::string_view bytes) override;
  void restart() override;
  End end() override;

 private:
  void read_part();
  [[noreturn]] void fail_disk(const char* what, int error) const;
  /// Throws unless what the hub says about the file is what its listing says.
  void check_origin(const Response& origin) const;

  const Source& source_;
  Store& store_;
  RemoteFile file_;
  FileLock lock_;
  std::function<void(std::int64_t)> progress_;
  int descriptor_ = -1;
  std::uint64_t offset_ = 0;
  Digest digest_;
  bool was_worthless_ = false;
};

}  // namespace lerobot::hub
