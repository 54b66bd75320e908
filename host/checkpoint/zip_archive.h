#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/base/ordered_map.h"

namespace lerobot::checkpoint {

using Bytes = std::span<const std::byte>;

/// Whether the bytes begin as a zip archive does.
bool is_zip(Bytes bytes);

/// The entries of a zip archive whose entries are stored without compression, as torch.save writes it: name -> bytes
/// (views into `bytes`). zip64 is understood; compression, encryption, several volumes and more than a million entries
/// are not. Checksums are not compared. Throws Error(kCheckpoint) that begins with `name` for anything else.
/// Source: PKWARE APPNOTE 6.3.
OrderedMap<Bytes> read_stored_zip(Bytes bytes, std::string_view name);

}  // namespace lerobot::checkpoint
