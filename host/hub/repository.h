#pragma once

#include <string>
#include <vector>

#include "host/hub/http.h"
#include "host/hub/listing.h"

namespace lerobot::hub {

/// One repository, as the hub's API shows it. Every call throws Unreachable when the server cannot be reached or does
/// not serve, and Error(kind) for what it refuses.
class Repository {
 public:
  Repository(const Settings& settings, const Request& request);

  /// Names of branches and tags.
  std::vector<std::string> ref_names(int attempts);
  /// The commit that a branch, tag or short commit means.
  std::string commit(const std::string& revision, int attempts);
  /// All files of a commit.
  Listing listing(const std::string& commit);

  /// The address of a commit's file, without its name.
  std::string file_prefix(const std::string& commit) const;
  /// "--dataset.repo_id=org/name", or "org/name" when no flag is known.
  const std::string& name() const { return name_; }
  ErrorKind kind() const { return kind_; }
  HttpClient& client() { return client_; }

 private:
  std::string api(const std::string& what) const;
  boost::json::value get(const std::string& url, int attempts, Response* response = nullptr);
  Error explain(const Response& response, const std::string& what) const;

  std::string endpoint_;
  bool has_token_;
  std::string place_;  ///< "datasets/org/name": in addresses of the API
  std::string files_;  ///< the same in addresses of files, where models have no prefix
  std::string name_;
  std::string revision_;
  ErrorKind kind_;
  HttpClient client_;
};

}  // namespace lerobot::hub
