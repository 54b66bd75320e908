#include "tests/abi/layout.h"

#include <lerobot_accel.h>
#include <cstddef>

#include "golden_assertions.h"
#include "tests/abi/layout_entries.h"

#define STRUCT(s) {#s, nullptr, 0, sizeof(s)},
#define FIELD(s, f) {#s, #f, offsetof(s, f), sizeof(((s*)0)->f)},

static const struct layout_entry entries[] = {LRA_LAYOUT(STRUCT, FIELD){nullptr, nullptr, 0, 0}};

const struct layout_entry* layout_in_cpp17() {
  return entries;
}
