#include "host/check/message.h"

#include <boost/json/object.hpp>
#include <boost/system/system_error.hpp>

#include "host/base/json.h"

namespace lerobot::check {
namespace bj = boost::json;

std::string write_request(const Request& request) {
  bj::object object{{"directory", request.directory},
                    {"check", request.check},
                    {"unavailable", request.unavailable},
                    {"devices", request.devices}};
  if (request.torch_directory) object["torch_directory"] = *request.torch_directory;
  return json::write_line(object);
}

Request read_request(const std::string& line) {
  const bj::value value = json::parse(line, "the request", ErrorKind::kInternal);
  try {
    const bj::object& object = value.as_object();
    Request request;
    request.directory = object.at("directory").as_string();
    request.check = object.at("check").as_string();
    request.unavailable = object.at("unavailable").as_string();
    request.devices = object.at("devices").to_number<std::uint32_t>();
    if (const bj::value* torch = object.if_contains("torch_directory")) request.torch_directory = torch->as_string();
    return request;
  } catch (const std::exception& error) {  // a key or a type that write_request does not write
    fail(ErrorKind::kInternal, "the request: {}", error.what());
  }
}

std::string write_verdict(const Verdict& verdict) {
  return json::write_line(bj::object{{"verdict", verdict_name(verdict.kind)}, {"detail", verdict.detail}});
}

Verdict read_verdict(const std::string& line) {
  const bj::value value = json::parse(line, "the check's answer", ErrorKind::kDevice);
  const bj::object* object = value.if_object();
  const bj::value* name = object ? object->if_contains("verdict") : nullptr;
  const bj::value* detail = object ? object->if_contains("detail") : nullptr;
  if (name && name->is_string() && detail && detail->is_string()) {
    for (const auto kind : {Verdict::Kind::kPass, Verdict::Kind::kFail, Verdict::Kind::kSkipped}) {
      if (name->get_string() == verdict_name(kind)) return {kind, std::string(detail->get_string())};
    }
  }
  fail(ErrorKind::kDevice, "the check's answer is no verdict");
}

}  // namespace lerobot::check
