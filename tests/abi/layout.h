/* The contract's layout as a compiler sees it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct layout_entry {
  const char* structure;
  const char* field; /* NULL: the structure itself */
  uint64_t offset;
  uint64_t size;
};

/* Ended by an entry whose structure is NULL. */
const struct layout_entry* layout_in_c99(void);
const struct layout_entry* layout_in_cpp17(void);

#ifdef __cplusplus
}
#endif
