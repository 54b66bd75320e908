#pragma once

#include "host/hub/http.h"
#include "host/hub/store.h"

namespace lerobot::hub {

/// What the files are of, for messages and for the addresses.
struct Source {
  std::string name;    ///< "--dataset.repo_id=org/name"
  std::string prefix;  ///< the address of a file without its name: ".../resolve/<commit>/"
  std::string commit;
  ErrorKind kind = ErrorKind::kData;
};

/// Puts all the files into the store. Several at once; each is locked, continued where an earlier download of it
/// stopped, checked against its hash, and then moved to its place at once. Throws Error: kIo when the disk has no room
/// (before anything is downloaded, as far as that can be told), the source's kind for what the server sends.
void download(HttpClient& client, const Source& source, Store& store, const Listing& files);

}  // namespace lerobot::hub
