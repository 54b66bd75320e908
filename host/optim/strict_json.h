#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace lerobot::optim {

/// Demands what Python's reader of checkpoints demands: the same keys in every object, the same length of every list,
/// the same type of every value (an integer is not a float). `where` names the place in messages. Throws
/// Error(kCheckpoint).
void check_same_form(const boost::json::value& stored, const boost::json::value& own, const std::string& where);

}  // namespace lerobot::optim
