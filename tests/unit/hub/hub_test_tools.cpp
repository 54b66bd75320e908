#include "tests/unit/hub/hub_test_tools.h"

#include <cstdlib>
#include <fstream>

#include "host/base/file.h"
#include "host/base/text.h"

namespace lerobot::hub {
namespace fs = std::filesystem;
namespace {

std::string noise(std::size_t size, unsigned seed) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>((seed = seed * 1664525U + 1013904223U) >> 24U);
  return out;
}

}  // namespace

Variables::Variables() {
  for (const char* name : {"HOME", "HF_HOME", "XDG_CACHE_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE",
                           "HF_LEROBOT_HOME", "LEROBOT_HOME", "HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
                           "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DOWNLOAD_TIMEOUT",
                           "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "http_proxy", "all_proxy"}) {
    before_[name] = environment(name);
    ::unsetenv(name);
  }
}

Variables::~Variables() {
  for (const auto& [name, value] : before_) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
}

void Variables::set(const std::string& name, const std::string& value) {
  before_.try_emplace(name, environment(name.c_str()));
  ::setenv(name.c_str(), value.c_str(), 1);
}

const std::string HubTest::kInfo = "{\"codebase_version\": \"v3.0\"}";
const std::string HubTest::kData = noise(300'000, 1);
const std::string HubTest::kVideo = noise(200'000, 2);

void write_file(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::string read_file(const fs::path& path) {
  return read_text(path, ErrorKind::kIo);
}

HubTest::HubTest() {
  const fs::path set = scratch() / "server/set";
  write_file(set / "meta/info.json", kInfo);
  write_file(set / "data/chunk-000/file-000.parquet", kData);
  write_file(set / "videos/camera one/file-000.mp4", kVideo);
  const fs::path policy = scratch() / "server/policy";
  write_file(policy / "config.json", "{}");
  write_file(policy / "model.safetensors", "weights");
  write_file(policy / "empty.txt", "");
  repos_ = {{{"type", "datasets"}, {"id", "org/set"}, {"revisions", {{"main", set.string()}, {"v3.0", set.string()}}}},
            {{"type", "models"}, {"id", "org/policy"}, {"revisions", {{"main", policy.string()}}}}};
}

void HubTest::serve(boost::json::array faults, const boost::json::object& more) {
  boost::json::object config = more;
  config["repos"] = repos_;
  config["faults"] = std::move(faults);
  server_ = std::make_unique<test::HubServer>(scratch() / "server", config);
}

Settings HubTest::settings() const {
  Settings settings;
  settings.endpoint = server_ ? server_->endpoint() : test::closed_endpoint();
  settings.cache = cache();
  settings.first_wait = std::chrono::milliseconds(5);
  return settings;
}

Request HubTest::dataset(std::optional<std::vector<std::string>> paths) const {
  Request request;
  request.type = RepoType::kDataset;
  request.repo_id = "org/set";
  request.paths = std::move(paths);
  request.flag = "--dataset.repo_id=org/set";
  return request;
}

Request HubTest::model(std::vector<std::string> paths) const {
  Request request;
  request.repo_id = "org/policy";
  request.paths = std::move(paths);
  request.flag = "--policy.path=org/policy";
  return request;
}

HubTest::Refusal HubTest::refusal_of(const Request& request, const Settings& settings) const {
  try {
    fetch_files(request, settings);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

std::vector<fs::path> HubTest::partials(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(directory, ec), end; !ec && at != end; at.increment(ec)) {
    if (at->path().extension() == ".incomplete") out.push_back(at->path());
  }
  return out;
}

}  // namespace lerobot::hub
