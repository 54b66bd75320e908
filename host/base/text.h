#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot {

/// The candidate nearest to `name` by edit distance, if it is near enough to be a likely misspelling.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// `text` as one word for a POSIX shell; unchanged when it needs no quotes.
std::string shell_quote(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Shell-style pattern with `*` and `?` over the whole text.
bool glob_match(std::string_view pattern, std::string_view text);

/// An environment variable, or nothing when unset. Set but empty gives "".
std::optional<std::string> environment(const char* name);

}  // namespace lerobot
