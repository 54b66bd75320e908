// Golden layouts of the contract's versions.
#pragma once

#include <string>
#include <vector>

namespace lerobot::abi {

/// Lines of an older version's golden layout that a newer layout of the same major no longer keeps, each with what it
/// has instead. A newer minor may append: structs may be longer, and there may be more of everything.
std::vector<std::string> broken_promises(const std::string& golden, const std::string& layout);

}  // namespace lerobot::abi
