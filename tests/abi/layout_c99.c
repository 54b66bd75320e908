#include "tests/abi/layout.h"

#include <lerobot_accel.h>
#include <stddef.h>

#include "golden_assertions.h"
#include "tests/abi/layout_entries.h"

#define STRUCT(s) {#s, NULL, 0, sizeof(s)},
#define FIELD(s, f) {#s, #f, offsetof(s, f), sizeof(((s*)0)->f)},

static const struct layout_entry entries[] = {LRA_LAYOUT(STRUCT, FIELD){NULL, NULL, 0, 0}};

const struct layout_entry* layout_in_c99(void) {
  return entries;
}
