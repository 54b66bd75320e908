// hub_fetch (dataset|model) REPO REVISION FOLDER PATH...: fetches as the programs do and prints where. "-" stands for a
// revision or a folder that is not given, no paths for everything. HUB_FETCH_FILE_LIMIT: bytes that a file may have.

#include <sys/resource.h>

#include <cstdlib>
#include <iostream>

#include "host/base/error.h"
#include "host/hub/hub.h"

int main(int argc, char** argv) {
  using namespace lerobot;
  if (argc < 5) return 2;
  if (const char* limit = std::getenv("HUB_FETCH_FILE_LIMIT")) {
    const rlimit bytes{std::strtoul(limit, nullptr, 10), RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &bytes);
  }
  const auto given = [](const std::string& text) { return text == "-" ? "" : text; };
  hub::Request request;
  request.type = std::string(argv[1]) == "dataset" ? hub::RepoType::kDataset : hub::RepoType::kModel;
  request.repo_id = argv[2];
  request.revision = given(argv[3]);
  if (!given(argv[4]).empty()) request.folder = argv[4];
  if (argc > 5) request.paths = std::vector<std::string>(argv + 5, argv + argc);
  try {
    std::cout << hub::fetch(request).root.string() << '\n';
  } catch (const Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_code(error.kind());
  }
}
