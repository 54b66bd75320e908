#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/error.h"
#include "host/hub/settings.h"

namespace lerobot::hub {

/// A status line and the headers after it.
struct Response {
  long status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case

  /// Empty when it is not there.
  std::string header(const std::string& name) const;
};

/// A server could not be reached, or gave up: what is on this machine may do instead.
class Unreachable : public Error {
 public:
  using Error::Error;
};

/// Takes the body of a response, perhaps over several attempts.
class Receiver {
 public:
  enum class End {
    kDone,
    kIncomplete,  ///< ask for the rest
    kWorthless,   ///< thrown away: ask for all of it once more
  };

  virtual ~Receiver() = default;
  /// How many bytes are here already: the next attempt asks for what follows.
  virtual std::uint64_t offset() const = 0;
  /// A body comes whose first byte is the one at `from`. `origin` is what the hub itself answered, before a redirect.
  virtual void begin(const Response& origin, const Response& response, std::uint64_t from) = 0;
  virtual void add(std::string_view bytes) = 0;
  /// Throws away what is here.
  virtual void restart() = 0;
  virtual End end() = 0;
};

struct Transfer {
  std::string url;
  std::string name;  ///< for messages
  std::shared_ptr<Receiver> receiver;
};

/// Gives out transfers one by one.
class TransferSource {
 public:
  virtual ~TransferSource() = default;
  /// The next one; nothing while none can begin.
  virtual std::optional<Transfer> next() = 0;
  /// No more will come.
  virtual bool is_exhausted() const = 0;
};

/// What a status that is no success means, as one line.
using Explain = std::function<Error(const Response& response, const std::string& name)>;

/// HTTP to one endpoint, through libcurl. Follows redirects itself: the token goes to the endpoint's own scheme, host
/// and port and nowhere else. Broken connections, 408, 429 and 5xx are tried again, after the time that the server asks
/// for or else after growing waits.
class HttpClient {
 public:
  HttpClient(const Settings& settings, ErrorKind kind, Explain explain);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Runs all transfers of the source. Throws the first error; what was received until then stays with the receivers.
  void run(TransferSource& source);

  struct Text {
    Response response;
    std::string body;
  };
  /// A small document. `attempts` instead of the settings', when above 0. Throws Unreachable, or Error(kind).
  Text get(const std::string& url, const std::string& name, int attempts = 0);

  /// `link` seen from `base`: absolute, or nothing when it is no URL for http or https.
  static std::optional<std::string> resolve(const std::string& base, const std::string& link);
  /// "https://host:443" of a URL; empty when it is none.
  static std::string origin_of(const std::string& url);
  /// "/path?query" of a URL.
  static std::string target_of(const std::string& url);

 private:
  class Loop;
  Settings settings_;
  ErrorKind kind_;
  Explain explain_;
  std::string origin_;
  std::unique_ptr<Loop> loop_;
};

/// `text` with everything but letters, digits and -._~ as %XX; '/' stays if `keep_slashes`.
std::string percent_encode(std::string_view text, bool keep_slashes);

}  // namespace lerobot::hub
