#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/digest.h"
#include "host/base/error.h"
#include "host/hub/hub.h"

namespace lerobot::hub {

/// A file of a commit, as the hub lists it.
struct RemoteFile {
  std::string path;
  std::uint64_t size = 0;
  std::string blob_id;   ///< git's SHA-1 of it, or of the pointer that stands for it
  std::string sha256;    ///< of the content, when it is stored beside git; else empty
  std::string xet_hash;  ///< kept for Python; may be empty

  /// What identifies the content, and the name of the blob in the cache.
  const std::string& id() const { return sha256.empty() ? blob_id : sha256; }
  /// Begins the digest that ends as id().
  Digest digest() const;
};
using Listing = std::vector<RemoteFile>;

/// 40 lower-case hex digits: a commit, or a blob of git.
bool is_sha1(std::string_view text);

/// Adds the files of one page of `/tree/<commit>?recursive=true`. What a server says is not trusted: names that leave
/// the folder, ids that are no hashes and absurd sizes are refused with Error(kind). `name` is for messages.
void add_page(Listing& listing, const boost::json::value& page, const std::string& name, ErrorKind kind);

/// The listing of a commit that Python or we have kept below `folder` (`trees/<commit>.json`), or nothing: there is
/// none, or it cannot be used.
std::optional<Listing> read_kept_listing(const std::filesystem::path& folder, const std::string& commit);
/// Keeps it there in Python's form. A folder that cannot be written to is no error.
void keep_listing(const std::filesystem::path& folder, const std::string& commit, const Listing& listing);

/// The files that a request wants. Throws Error(kind) when one of its paths is not there; `name` says where not.
Listing choose_files(const Listing& listing, const Request& request, const std::string& name, ErrorKind kind);

}  // namespace lerobot::hub
