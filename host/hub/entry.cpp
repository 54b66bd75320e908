// The one exported symbol of liblerobot_hub.so.

#include <csignal>

#include "host/hub/fetch.h"

namespace {

/// While it lives, a signal is ignored.
class Ignored {
 public:
  explicit Ignored(int signal) : signal_(signal) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(signal, &ignore, &before_);
  }
  ~Ignored() { ::sigaction(signal_, &before_, nullptr); }
  Ignored(const Ignored&) = delete;
  Ignored& operator=(const Ignored&) = delete;

 private:
  int signal_;
  struct sigaction before_ {};
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void lerobot_hub_fetch(const lerobot::hub::Request* request,
                                                                         lerobot::hub::Fetched* fetched) {
  const Ignored closed_connection(SIGPIPE);  // an error of the write, not the end of the process
  const Ignored size_limit(SIGXFSZ);
  *fetched = lerobot::hub::fetch_files(*request, lerobot::hub::read_settings(request->type));
}
