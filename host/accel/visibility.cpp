#include "host/accel/visibility.h"

#include "host/accel/abi.h"
#include "host/base/text.h"

namespace lerobot::accel {

std::string visibility_variables(const Manifest& manifest, const Variables& variables) {
  std::vector<std::string> parts;
  for (const std::string& name : manifest.visible_devices) {
    const auto found = variables.find(name);
    if (found != variables.end()) parts.push_back(name + "=" + printable(found->second));
  }
  return join(parts, ", then ");
}

}  // namespace lerobot::accel
