#pragma once

#include <boost/json/value.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lerobot::test {

/// hub_server.py in a process of its own, for as long as the object lives. Needs python3.
class HubServer {
 public:
  /// `config` as described there. Files of its own go into `directory`.
  HubServer(const std::filesystem::path& directory, const boost::json::object& config);

  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int storage_port() const { return storage_port_; }

  struct Request {
    std::string server, method, path, range, authorization;
  };
  /// Those that came so far.
  std::vector<Request> requests() const;
  /// Those to a server ("hub", "storage") whose path holds `part`.
  std::vector<Request> requests(const std::string& server, const std::string& part) const;

 private:
  std::filesystem::path log_;
  std::unique_ptr<Program> program_;
  int port_ = 0, storage_port_ = 0;
};

/// A loopback port that nobody listens on.
std::string closed_endpoint();

}  // namespace lerobot::test
