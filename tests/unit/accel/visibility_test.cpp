#include "host/accel/visibility.h"

#include <gmock/gmock.h>

namespace lerobot::accel {
namespace {

TEST(VisibilityVariables, AreThoseOfTheManifestThatAreSetInItsOrder) {
  Manifest manifest;
  manifest.visible_devices = {"Z_VISIBLE_DEVICES", "A_VISIBLE_DEVICES"};
  EXPECT_EQ(visibility_variables(manifest, {}), "");
  EXPECT_EQ(visibility_variables(manifest, {{"A_VISIBLE_DEVICES", "1"}, {"B_VISIBLE_DEVICES", "1"}}),
            "A_VISIBLE_DEVICES=1");
  EXPECT_EQ(visibility_variables(manifest, {{"A_VISIBLE_DEVICES", ""}, {"Z_VISIBLE_DEVICES", "0,1"}}),
            "Z_VISIBLE_DEVICES=0,1, then A_VISIBLE_DEVICES=");
}

TEST(VisibilityVariables, CannotMoveATerminalsCursor) {
  Manifest manifest;
  manifest.visible_devices = {"A_VISIBLE_DEVICES"};
  EXPECT_EQ(visibility_variables(manifest, {{"A_VISIBLE_DEVICES", "1\x1b[2J\n"}}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace lerobot::accel
