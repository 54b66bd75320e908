#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "host/hub/hub.h"

namespace lerobot::hub {

/// What the environment says about the hub, and the limits of patience.
struct Settings {
  std::string endpoint = "https://huggingface.co";  ///< without '/' at the end
  std::string token;                                ///< empty: none
  std::filesystem::path cache;                      ///< holds models--org--name and datasets--org--name
  std::string certificates;                         ///< file with the authorities to trust; empty: the system's
  bool offline = false;
  int attempts = 5;                            ///< in a row that bring nothing, until one gives up
  std::chrono::milliseconds first_wait{1000};  ///< before the second attempt; doubled for each one after it
  std::chrono::seconds longest_wait{300};      ///< that a server may ask for
  std::chrono::seconds connect_timeout{10};
  std::chrono::seconds stalled_timeout{30};  ///< without a byte
  int at_once = 8;                           ///< downloads
};

/// From HF_ENDPOINT, HF_TOKEN or the token file, HF_HUB_CACHE or HF_LEROBOT_HOME (by the type), HF_HUB_OFFLINE,
/// HF_HUB_DOWNLOAD_TIMEOUT, SSL_CERT_FILE and its relatives. Throws Error(kUsage) for a value that cannot be used.
Settings read_settings(RepoType type);

}  // namespace lerobot::hub
