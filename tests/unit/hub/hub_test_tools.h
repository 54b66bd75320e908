#pragma once

#include <gmock/gmock.h>

#include <boost/json/value.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/error.h"
#include "host/hub/fetch.h"
#include "tests/support/hub_server.h"
#include "tests/support/scratch.h"

namespace lerobot::hub {

/// The variables that the hub's code reads: none is set at first, and they are as before at the end.
class Variables {
 public:
  Variables();
  ~Variables();
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  void set(const std::string& name, const std::string& value);

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

/// A server with a dataset org/set of a small file (meta/info.json) and two large ones, a model org/policy, and a cache
/// of its own.
class HubTest : public ScratchTest {
 protected:
  HubTest();

  /// Starts the server, with these faults and what else its configuration is to have.
  void serve(boost::json::array faults = {}, const boost::json::object& more = {});
  test::HubServer& server() { return *server_; }
  /// What the configuration says about org/set; changed before serve().
  boost::json::object& set() { return repos_[0].as_object(); }

  Settings settings() const;
  Request dataset(std::optional<std::vector<std::string>> paths = std::nullopt) const;
  Request model(std::vector<std::string> paths) const;
  Fetched fetch(const Request& request) const { return fetch_files(request, settings()); }

  struct Refusal {
    ErrorKind kind = ErrorKind::kInternal;
    std::string message;
  };
  Refusal refusal_of(const Request& request, const Settings& settings) const;
  Refusal refusal_of(const Request& request) const { return refusal_of(request, settings()); }

  std::filesystem::path cache() const { return scratch() / "cache"; }
  std::filesystem::path set_cache() const { return cache() / "datasets--org--set"; }
  /// Names of the partial files below a directory.
  static std::vector<std::filesystem::path> partials(const std::filesystem::path& directory);

  static const std::string kInfo, kData, kVideo;  ///< contents of org/set

 private:
  boost::json::array repos_;
  std::unique_ptr<test::HubServer> server_;
};

void write_file(const std::filesystem::path& path, const std::string& content);
std::string read_file(const std::filesystem::path& path);

}  // namespace lerobot::hub
