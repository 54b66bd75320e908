#include "tests/support/hub_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace lerobot::test {
namespace {

std::string find_python() {
  std::istringstream path(std::getenv("PATH"));
  for (std::string directory; std::getline(path, directory, ':');) {
    const std::string candidate = directory + "/python3";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw std::runtime_error("no python3 in PATH");
}

}  // namespace

HubServer::HubServer(const std::filesystem::path& directory, const boost::json::object& config)
    : log_(directory / "hub_server.log") {
  std::filesystem::create_directories(directory);
  const std::filesystem::path file = directory / "hub_server.json";
  std::ofstream(file) << boost::json::serialize(config);
  std::filesystem::remove(log_);
  program_ = std::make_unique<Program>(
      find_python(), std::vector<std::string>{LEROBOT_SOURCE_DIR "/tests/support/hub_server.py", file, log_});
  if (!program_->wait_for_output("\n")) throw std::runtime_error("hub_server.py: " + program_->output());
  std::istringstream(program_->output()) >> port_ >> storage_port_;
  if (storage_port_ == 0) throw std::runtime_error("hub_server.py: " + program_->output());
}

std::vector<HubServer::Request> HubServer::requests() const {
  std::vector<Request> out;
  std::ifstream in(log_);
  for (std::string line; std::getline(in, line);) {
    const boost::json::object entry = boost::json::parse(line).as_object();
    const auto text = [&](const char* key) { return std::string(std::string_view(entry.at(key).as_string())); };
    out.push_back({text("server"), text("method"), text("path"), text("range"), text("authorization")});
  }
  return out;
}

std::vector<HubServer::Request> HubServer::requests(const std::string& server, const std::string& part) const {
  std::vector<Request> out;
  for (Request& request : requests()) {
    if (request.server == server && request.path.find(part) != std::string::npos) out.push_back(std::move(request));
  }
  return out;
}

std::string closed_endpoint() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(descriptor);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace lerobot::test
