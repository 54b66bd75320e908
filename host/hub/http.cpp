#include "host/hub/http.h"

#include <algorithm>
#include <list>
#include <thread>
#include <utility>

#include "host/base/log.h"
#include "host/hub/http_attempt.h"

namespace lerobot::hub {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{50};
constexpr milliseconds kLongestOwnWait{30000};
constexpr int kMostRedirects = 10;
constexpr std::size_t kLargestText = std::size_t{32} << 20U;

/// A transfer with all its attempts.
struct Job {
  Transfer transfer;
  std::string url;                 ///< after redirects
  std::optional<Response> origin;  ///< the hub's answer, when it was a redirect
  int redirects = 0;
  int failures = 0;         ///< in a row
  std::uint64_t asked = 0;  ///< offset of the attempt that runs
  Clock::time_point not_before;
  std::unique_ptr<HttpAttempt> attempt;
};

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

std::string part_of(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return "";
  std::string out(text);
  curl_free(text);
  return out;
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Statuses that may be others a little later.
bool is_passing(long status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

/// Failures that another attempt cannot mend.
bool is_lasting(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
      return true;
    default:
      return false;
  }
}

class TextReceiver : public Receiver {
 public:
  TextReceiver(std::string name, ErrorKind kind) : name_(std::move(name)), kind_(kind) {}
  std::uint64_t offset() const override { return 0; }
  void begin(const Response&, const Response& response, std::uint64_t) override { text_ = {response, ""}; }
  void add(std::string_view bytes) override {
    text_.body += bytes;
    if (text_.body.size() <= kLargestText) return;
    fail(kind_, "{}: the server's answer is larger than {} MiB. Is HF_ENDPOINT right?", name_, kLargestText >> 20U);
  }
  void restart() override {}
  End end() override { return End::kDone; }
  HttpClient::Text& text() { return text_; }

 private:
  std::string name_;
  ErrorKind kind_;
  HttpClient::Text text_;
};

class OneTransfer : public TransferSource {
 public:
  explicit OneTransfer(Transfer transfer) : transfer_(std::move(transfer)) {}
  std::optional<Transfer> next() override { return std::exchange(transfer_, std::nullopt); }
  bool is_exhausted() const override { return !transfer_; }

 private:
  std::optional<Transfer> transfer_;
};

}  // namespace

/// Runs jobs side by side in one multi handle; its connections outlive the jobs.
class HttpClient::Loop {
 public:
  explicit Loop(const HttpClient& client) : client_(client), multi_(curl_multi_init()) {
    if (!multi_) fail(ErrorKind::kInternal, "libcurl: no multi handle");
  }
  ~Loop() {
    jobs_.clear();
    curl_multi_cleanup(multi_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run(TransferSource& source, int attempts) {
    attempts_ = attempts;
    const ClearJobs clear{jobs_};
    while (true) {
      take(source);
      if (jobs_.empty()) {
        if (source.is_exhausted()) return;
        std::this_thread::sleep_for(kTick);  // all that is left is in other hands
        continue;
      }
      start_due();
      int running = 0;
      curl_multi_perform(multi_, &running);
      settle_finished();
      if (running > 0) {
        curl_multi_poll(multi_, nullptr, 0, static_cast<int>(kTick.count()), nullptr);
      } else if (all_wait()) {
        std::this_thread::sleep_for(kTick);
      }
    }
  }

 private:
  /// Whatever ends the run, no job of it stays.
  struct ClearJobs {
    std::list<Job>& jobs;
    ~ClearJobs() { jobs.clear(); }
  };

  void take(TransferSource& source) {
    if (Clock::now() < ask_again_) return;
    while (static_cast<int>(jobs_.size()) < client_.settings_.at_once) {
      std::optional<Transfer> transfer = source.next();
      if (!transfer) {
        ask_again_ = Clock::now() + kTick;
        return;
      }
      Job& job = jobs_.emplace_back();
      job.url = transfer->url;
      job.transfer = std::move(*transfer);
    }
  }

  void start_due() {
    const auto now = Clock::now();
    for (Job& job : jobs_) {
      if (!job.attempt && job.not_before <= now) start(job);
    }
  }

  void start(Job& job) {
    job.asked = job.transfer.receiver->offset();
    const Ask ask{job.url, job.asked, origin_of(job.url) == client_.origin_};
    const bool is_elsewhere = job.origin && !ask.with_token;
    job.attempt = std::make_unique<HttpAttempt>(multi_, client_.settings_, ask, *job.transfer.receiver,
                                                is_elsewhere ? &*job.origin : nullptr);
  }

  bool all_wait() const {
    const auto now = Clock::now();
    return std::ranges::all_of(jobs_, [&](const Job& job) { return !job.attempt && job.not_before > now; });
  }

  void settle_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto is_its = [&](const Job& job) { return job.attempt && job.attempt->handle() == message->easy_handle; };
      const auto job = std::ranges::find_if(jobs_, is_its);
      if (settle(*job, code)) {
        jobs_.erase(job);
      } else {
        job->attempt.reset();
      }
    }
  }

  /// True when the job is done; else another attempt follows.
  bool settle(Job& job, CURLcode code) {
    HttpAttempt& attempt = *job.attempt;
    if (attempt.error()) std::rethrow_exception(attempt.error());
    const Response& response = attempt.response();
    if (is_redirect(response.status)) {
      follow(job, response);
      return false;
    }
    if (response.status >= 300) {
      refuse(job, attempt);
      return false;
    }
    if (code != CURLE_OK) {
      if (is_lasting(code)) fail_for_good(job, code, attempt.problem(code));
      again(job, attempt.problem(code));
      return false;
    }
    attempt.begin_body();
    switch (job.transfer.receiver->end()) {
      case Receiver::End::kDone:
        return true;
      case Receiver::End::kIncomplete:
        again(job, "the connection ended early");
        return false;
      case Receiver::End::kWorthless:
        job.url = job.transfer.url;
        return false;
    }
    return true;
  }

  [[noreturn]] void fail_for_good(const Job& job, CURLcode code, const std::string& problem) const {
    const bool is_trust = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    fail(client_.kind_, "{}: {}: {}. {}", job.transfer.name, origin_of(job.url), problem,
         is_trust ? "Install the package ca-certificates, or name the file with your authorities in SSL_CERT_FILE."
                  : "Is HF_ENDPOINT right?");
  }

  void follow(Job& job, const Response& response) const {
    const auto target = resolve(job.url, response.header("location"));
    const bool loses_tls = target && job.url.starts_with("https:") && !target->starts_with("https:");
    if (!target || loses_tls || ++job.redirects > kMostRedirects) {
      fail(client_.kind_, "{}: {} redirects {}. Is HF_ENDPOINT right?", job.transfer.name, origin_of(job.url),
           !target     ? "to nowhere"
           : loses_tls ? "from https to http, which is not followed"
                       : "without end");
    }
    if (origin_of(job.url) == client_.origin_) job.origin = response;
    job.url = *target;
  }

  void refuse(Job& job, const HttpAttempt& attempt) {
    const Response& response = attempt.response();
    if (response.status == 416 && job.asked > 0) {
      job.transfer.receiver->restart();
      again(job, "the part that is here does not fit");
      return;
    }
    const std::string host = origin_of(job.url);
    const bool is_elsewhere = host != client_.origin_;  // a signed address that may have run out
    const Error error = is_elsewhere ? Error(client_.kind_, format("{}: {}, to which the hub redirects, answers with "
                                                                   "status {}. Try again later.",
                                                                   job.transfer.name, host, response.status))
                                     : client_.explain_(response, job.transfer.name);
    if (!is_passing(response.status) && !is_elsewhere) throw error;
    const std::chrono::seconds asked(attempt.asked_wait());
    if (asked > client_.settings_.longest_wait) throw Unreachable(client_.kind_, error.what());
    again(job, format("{} answers with status {}", host, response.status), asked, error.what());
  }

  /// Notes a failure and when to try again, after the time that the server asks for or a growing one. After the last
  /// attempt throws Unreachable, with `last_words` if there are any.
  void again(Job& job, const std::string& problem, std::chrono::seconds asked = {},
             const std::string& last_words = {}) {
    if (job.transfer.receiver->offset() > job.asked) job.failures = 0;
    if (++job.failures >= attempts_) {
      throw Unreachable(client_.kind_, !last_words.empty() ? last_words
                                                           : format("{}: {}: {}. Is the network there, and HF_ENDPOINT "
                                                                    "right? What has come is kept.",
                                                                    job.transfer.name, origin_of(job.url), problem));
    }
    milliseconds wait = std::min(client_.settings_.first_wait * (1 << std::min(job.failures - 1, 10)), kLongestOwnWait);
    if (asked.count() > 0) wait = asked;
    log::warn("{}: {}; trying again in {} s", job.transfer.name, problem, static_cast<double>(wait.count()) / 1000);
    job.not_before = Clock::now() + wait;
    job.url = job.transfer.url;
    job.origin.reset();
    job.redirects = 0;
  }

  const HttpClient& client_;
  CURLM* multi_;
  int attempts_ = 1;
  Clock::time_point ask_again_;  ///< the source
  std::list<Job> jobs_;
};

HttpClient::HttpClient(const Settings& settings, ErrorKind kind, Explain explain)
    : settings_(settings), kind_(kind), explain_(std::move(explain)), origin_(origin_of(settings.endpoint)) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) fail(ErrorKind::kInternal, "libcurl: {}", curl_easy_strerror(started));
  if (origin_.empty()) fail(ErrorKind::kUsage, "HF_ENDPOINT: found {}, which is no URL.", settings.endpoint);
  loop_ = std::make_unique<Loop>(*this);
}

HttpClient::~HttpClient() = default;

void HttpClient::run(TransferSource& source) {
  loop_->run(source, settings_.attempts);
}

HttpClient::Text HttpClient::get(const std::string& url, const std::string& name, int attempts) {
  const auto receiver = std::make_shared<TextReceiver>(name, kind_);
  OneTransfer source(Transfer{url, name, receiver});
  loop_->run(source, attempts > 0 ? attempts : settings_.attempts);
  return std::move(receiver->text());
}

std::optional<std::string> HttpClient::resolve(const std::string& base, const std::string& link) {
  const Url url(curl_url());
  if (link.empty() || curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK) return std::nullopt;
  if (curl_url_set(url.get(), CURLUPART_URL, link.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return std::nullopt;
  return part_of(url, CURLUPART_URL);
}

std::string HttpClient::origin_of(const std::string& text) {
  const Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return "";
  std::string host = part_of(url, CURLUPART_HOST);
  std::ranges::transform(host, host.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return part_of(url, CURLUPART_SCHEME) + "://" + host + ":" + part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

std::string HttpClient::target_of(const std::string& text) {
  const Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return "";
  const std::string query = part_of(url, CURLUPART_QUERY);
  return part_of(url, CURLUPART_PATH) + (query.empty() ? "" : "?" + query);
}

std::string percent_encode(std::string_view text, bool keep_slashes) {
  std::string out;
  for (const unsigned char c : text) {
    const bool is_plain = std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    if ((is_plain && c < 0x80) || (keep_slashes && c == '/')) {
      out += static_cast<char>(c);
    } else {
      out += format("%{:02X}", static_cast<unsigned>(c));
    }
  }
  return out;
}

}  // namespace lerobot::hub
