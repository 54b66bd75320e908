#include "host/config/command_line.h"

#include <algorithm>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <set>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/config/decode.h"
#include "host/config/flags.h"
#include "host/config/train_fields.h"

namespace lerobot::config {
namespace {

namespace po = boost::program_options;

/// One flag and its text, in the order of the command line.
struct Token {
  std::string name;
  std::string value;
};

[[noreturn]] void refuse_unknown(const std::string& name) {
  for (const Flag& flag : train_flags()) {
    if (name.starts_with(flag.name + ".")) {
      fail(ErrorKind::kUsage, "--{}: unknown flag: {} takes one value ({}). Write --{}=VALUE.", name, flag.name,
           flag.type, flag.name);
    }
  }
  const auto nearest = nearest_flag(name);
  fail(ErrorKind::kUsage, "--{}: unknown flag. {}", name,
       nearest ? format("Did you mean --{}?", *nearest) : "See --help for those there are.");
}

/// Takes one `--name=value` or `--name value` off the front. Boost's own parser refuses `--name=` and splits values
/// that begin with dashes.
std::vector<po::option> take_long_option(std::vector<std::string>& arguments) {
  const std::string first = arguments.front();
  if (first == "--") fail(ErrorKind::kUsage, "`--`: needed --name=value. This program takes no positional arguments.");
  if (!first.starts_with("--")) return {};
  const std::size_t equals = std::min(first.find('='), first.size());
  po::option option(first.substr(2, equals - 2), {});
  option.original_tokens.push_back(first);
  arguments.erase(arguments.begin());
  if (equals < first.size()) {
    option.value.push_back(first.substr(equals + 1));
  } else if (!arguments.empty() && !arguments.front().starts_with("--")) {
    option.value.push_back(arguments.front());
    option.original_tokens.push_back(arguments.front());
    arguments.erase(arguments.begin());
  } else {
    if (!is_known_flag(option.string_key) && !refusal(option.string_key)) refuse_unknown(option.string_key);
    fail(ErrorKind::kUsage, "--{}: found no value, needed one. Write --{}=VALUE.", option.string_key,
         option.string_key);
  }
  return {option};
}

std::vector<Token> tokenize(const std::vector<std::string>& arguments) {
  po::options_description declared;
  std::set<std::string> names;
  for (const Flag& flag : train_flags()) names.insert(flag.name);
  for (const std::string& name : names) declared.add_options()(name.c_str(), po::value<std::string>());
  const po::parsed_options parsed =
      po::command_line_parser(arguments)
          .options(declared)
          .style(po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent |
                 po::command_line_style::long_allow_next)
          .extra_style_parser(take_long_option)
          .allow_unregistered()
          .run();
  std::vector<Token> out;
  for (const po::option& option : parsed.options) {
    if (option.string_key.empty()) {
      fail(ErrorKind::kUsage, "`{}`: found a positional argument, needed --name=value. Put lists into one word: [0,1].",
           option.value.empty() ? "" : option.value.front());
    }
    out.push_back({option.string_key, option.value.front()});
  }
  return out;
}

/// What LeRobot has and this program refuses whatever the value. Before unknown names: the flags of a policy that is
/// not supported are unknown too, and its type is the better thing to say.
void refuse_unsupported(const std::vector<Token>& tokens) {
  for (const Token& token : tokens) {
    const auto reason = refusal(token.name);
    if (reason && !(token.name.find('.') == std::string::npos && is_null_text(token.value))) {
      fail(ErrorKind::kUsage, "--{}: {}", token.name, *reason);
    }
    for (const ChoiceTypes& choice : choice_types()) {
      const std::string type = parse_string(token.value);
      if (token.name != choice.name + ".type") continue;
      if (std::find(choice.later.begin(), choice.later.end(), type) == choice.later.end()) continue;
      fail(ErrorKind::kUsage, "--{}: found {}, which is not supported yet, needed one of {}.", token.name, type,
           join(choice.supported, ", "));
    }
  }
}

Node typed_plain(const std::string& text) {
  return {Plain{text}, Node::Origin::kTyped};
}

/// The whole of a section: a mapping, or null.
Node section_value(const Token& token) {
  if (is_null_text(token.value)) return {nullptr, Node::Origin::kTyped};
  if (token.value.starts_with("include")) {
    fail(ErrorKind::kUsage, "--{}: `include` is not supported. Write the settings as flags, or use --config_path.",
         token.name);
  }
  if (!token.value.starts_with('{')) {
    fail(ErrorKind::kUsage, "--{}: found {}, needed a mapping such as '{{type: act}}', or null.", token.name,
         token.value);
  }
  return parse_flow(token.value, token.name);
}

/// Mappings are read at once, to be merged with those of a file; other values wait for their type.
Node setting_value(const Token& token) {
  if (is_section_flag(token.name)) return section_value(token);
  const auto& flags = train_flags();
  const bool is_mapping = std::any_of(
      flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == token.name && flag.type == "mapping"; });
  return is_mapping && token.value.starts_with('{') ? parse_flow(token.value, token.name) : typed_plain(token.value);
}

Node path_list(const std::string& text) {
  Node::List out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) out.push_back({text.substr(begin, end - begin), Node::Origin::kTyped});
    begin = end + 1;
  }
  return {std::move(out), Node::Origin::kTyped};
}

bool is_host_flag(const std::string& name) {
  const auto& flags = train_flags();
  return std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.is_host && flag.name == name; });
}

void set_once(std::optional<std::string>& out, const Token& token) {
  const std::string value = parse_string(token.value);
  if (value.empty()) fail(ErrorKind::kUsage, "--{}: found an empty text, needed a path.", token.name);
  if (out && *out != value) {
    fail(ErrorKind::kUsage, "--{}: found twice, as {} and {}, needed one. Leave one out.", token.name, *out, value);
  }
  out = value;
}

bool is_word(const std::vector<std::string>& arguments, std::string_view a, std::string_view b) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& word) { return word == a || word == b; });
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& arguments) {
  return is_word(arguments, "--help", "-h");
}
bool asks_for_version(const std::vector<std::string>& arguments) {
  return is_word(arguments, "--version", "--version");
}

CommandLine read_command_line(const std::vector<std::string>& arguments) {
  const std::vector<Token> tokens = tokenize(arguments);
  refuse_unsupported(tokens);
  CommandLine out;
  out.settings = empty_map(Node::Origin::kTyped);
  Node host = empty_map(Node::Origin::kTyped);
  for (const Token& token : tokens) {
    if (!is_known_flag(token.name) && !refusal(token.name)) refuse_unknown(token.name);
    if (token.name == "config_path") {
      set_once(out.config_path, token);
    } else if (token.name == "policy.path") {
      set_once(out.policy_path, token);
    } else if (token.name == "plugins") {
      host.put(token.name, path_list(token.value));
    } else if (is_host_flag(token.name)) {
      host.put(token.name, typed_plain(token.value));
    } else {
      out.settings.put(token.name, setting_value(token));
    }
  }
  Decoder("", Strictness::kStrict).read(host, "", out.host);
  return out;
}

std::optional<std::string> typed_value(const std::vector<std::string>& arguments, const std::string& name) {
  std::optional<std::string> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--" + name + "=")) out = arguments[i].substr(name.size() + 3);
    if (arguments[i] == "--" + name && i + 1 < arguments.size()) out = arguments[i + 1];
  }
  return out;
}

}  // namespace lerobot::config
