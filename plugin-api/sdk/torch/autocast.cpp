#include "sdk/torch/autocast.h"

#include <ATen/autocast_mode.h>

#include <atomic>
#include <vector>

#include "sdk/failure.h"

namespace lerobot::sdk {
namespace {

std::atomic<std::uint64_t> next_token{1};
std::atomic<std::uint64_t> open_scopes{0};

/// An open scope and what it replaced.
struct Scope {
  std::uint64_t token;
  c10::DeviceType type;
  bool was_enabled;
  at::ScalarType previous_dtype;
};

/// One thread's scopes, outermost first. A thread may end inside one; its autocast state ends with it.
class ScopeStack {
 public:
  ScopeStack() = default;
  ~ScopeStack() { open_scopes -= scopes_.size(); }
  ScopeStack(const ScopeStack&) = delete;
  ScopeStack& operator=(const ScopeStack&) = delete;

  void push(const Scope& scope) {
    scopes_.push_back(scope);
    ++open_scopes;
  }
  void pop() {
    scopes_.pop_back();
    --open_scopes;
  }
  const Scope* innermost() const { return scopes_.empty() ? nullptr : &scopes_.back(); }

 private:
  std::vector<Scope> scopes_;
};

thread_local ScopeStack thread_scopes;

}  // namespace

std::uint64_t enter_autocast(c10::DeviceType type, std::uint32_t precision) {
  const Scope scope{next_token++, type, at::autocast::is_autocast_enabled(type),
                    at::autocast::get_autocast_dtype(type)};
  thread_scopes.push(scope);
  if (precision != LRA_PRECISION_FLOAT32) {
    at::autocast::set_autocast_dtype(type, precision == LRA_PRECISION_BF16 ? at::kBFloat16 : at::kHalf);
  }
  at::autocast::set_autocast_enabled(type, precision != LRA_PRECISION_FLOAT32);
  at::autocast::increment_nesting();
  return scope.token;
}

void exit_autocast(std::uint64_t token) {
  if (token == 0) throw Failure(LRA_INVALID_ARGUMENT, "autocast_exit: the token is 0");
  const Scope* scope = thread_scopes.innermost();
  if (scope == nullptr || scope->token != token) {
    throw Failure(LRA_WRONG_STATE, scope == nullptr
                                       ? "autocast_exit: no scope is open on this thread"
                                       : "autocast_exit: token " + std::to_string(token) +
                                             " is not this thread's innermost scope, " + std::to_string(scope->token));
  }
  at::autocast::set_autocast_enabled(scope->type, scope->was_enabled);
  at::autocast::set_autocast_dtype(scope->type, scope->previous_dtype);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  thread_scopes.pop();
}

std::uint64_t open_autocast_scopes() {
  return open_scopes;
}

}  // namespace lerobot::sdk
