#include "host/hub/repository.h"

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/text.h"

namespace lerobot::hub {
namespace {

namespace bj = boost::json;

constexpr int kMostPages = 100'000;

/// The address in `Link: <address>; rel="next"`; empty when there is none.
std::string next_page(const std::string& link) {
  const std::size_t rel = link.find("rel=\"next\"");
  const std::size_t open = link.rfind('<', rel);
  const std::size_t close = link.find('>', open);
  if (rel == std::string::npos || open == std::string::npos || close == std::string::npos || close > rel) return "";
  return link.substr(open + 1, close - open - 1);
}

}  // namespace

Repository::Repository(const Settings& settings, const Request& request)
    : endpoint_(settings.endpoint),
      has_token_(!settings.token.empty()),
      place_((request.type == RepoType::kDataset ? "datasets/" : "models/") + request.repo_id),
      files_((request.type == RepoType::kDataset ? "datasets/" : "") + request.repo_id),
      name_(request.flag.empty() ? request.repo_id : request.flag),
      revision_(request.revision),
      kind_(request.type == RepoType::kDataset ? ErrorKind::kData : ErrorKind::kCheckpoint),
      client_(settings, kind_,
              [this](const Response& response, const std::string& what) { return explain(response, what); }) {}

std::string Repository::api(const std::string& what) const {
  return endpoint_ + "/api/" + place_ + "/" + what;
}

std::string Repository::file_prefix(const std::string& commit) const {
  return endpoint_ + "/" + files_ + "/resolve/" + commit + "/";
}

bj::value Repository::get(const std::string& url, int attempts, Response* response) {
  HttpClient::Text text = client_.get(url, name_, attempts);
  if (response) *response = std::move(text.response);
  try {
    return json::parse(text.body, name_, kind_);
  } catch (const Error& error) {
    fail(kind_, "{}: {} answers with something else than JSON. Is HF_ENDPOINT right, and no login page in between?",
         name_, HttpClient::origin_of(url));
  }
}

std::vector<std::string> Repository::ref_names(int attempts) {
  const bj::value refs = get(api("refs"), attempts);
  std::vector<std::string> names;
  for (const char* group : {"branches", "tags"}) {
    const bj::value* list = refs.is_object() ? refs.get_object().if_contains(group) : nullptr;
    if (!list || !list->is_array()) continue;
    for (const bj::value& entry : list->get_array()) {
      const bj::value* name = entry.is_object() ? entry.get_object().if_contains("name") : nullptr;
      if (name && name->is_string()) names.emplace_back(std::string_view(name->get_string()));
    }
  }
  return names;
}

std::string Repository::commit(const std::string& revision, int attempts) {
  const bj::value info = get(api("revision/" + percent_encode(revision, /*keep_slashes=*/false)), attempts);
  const bj::value* sha = info.is_object() ? info.get_object().if_contains("sha") : nullptr;
  if (sha && sha->is_string() && is_sha1(std::string_view(sha->get_string()))) {
    return std::string(std::string_view(sha->get_string()));
  }
  fail(kind_, "{}: the server does not tell the commit of {}. Is HF_ENDPOINT right?", name_, revision);
}

Listing Repository::listing(const std::string& commit) {
  Listing listing;
  std::string url = api("tree/" + commit + "?recursive=true&expand=false");
  for (int page = 0; page < kMostPages; ++page) {
    Response response;
    add_page(listing, get(url, 0, &response), name_, kind_);
    const std::string next = next_page(response.header("link"));
    if (next.empty()) return listing;
    const auto target = HttpClient::resolve(url, next);
    if (!target) fail(kind_, "{}: the server's list of files goes on nowhere. Is HF_ENDPOINT right?", name_);
    // A mirror may pass on the address of what it mirrors: it is asked itself, and the token stays here.
    const bool is_ours = HttpClient::origin_of(*target) == HttpClient::origin_of(endpoint_);
    url = is_ours ? *target : endpoint_ + HttpClient::target_of(*target);
  }
  fail(kind_, "{}: the server's list of files does not end.", name_);
}

Error Repository::explain(const Response& response, const std::string& what) const {
  const std::string code = response.header("x-error-code");
  const std::string token = has_token_ ? "HF_TOKEN may read it" : "HF_TOKEN is set (none is)";
  const auto error = [&](std::string_view pattern, const auto&... args) {
    return Error(kind_, what + ": " + format(pattern, args...));
  };
  if (code == "GatedRepo") {
    return error("access is granted on request: ask for it on the repository's page on {}, and check that {}.",
                 endpoint_, token);
  }
  if (code == "RevisionNotFound") {
    return error("has no revision {}. Name a branch, tag or commit of it.",
                 revision_.empty() ? "main" : shell_quote(revision_));
  }
  if (code == "EntryNotFound") return error("has no such file.");
  switch (response.status) {
    case 401:
      return error("not found, or not for everybody (status 401). Check the name, and that {}.", token);
    case 403:
      return error("not permitted (status 403). Check that {}.", token);
    case 404:
      return error("not found at {} (status 404). Check the name; for a private repository check that {}.", endpoint_,
                   token);
    case 429:
      return error("{} has been asked too often (status 429). Wait some minutes; with HF_TOKEN more is allowed.",
                   endpoint_);
    default:
      return error("{} answers with status {}. Try again later; with HF_HUB_OFFLINE=1 what is on this machine is used.",
                   endpoint_, response.status);
  }
}

}  // namespace lerobot::hub
