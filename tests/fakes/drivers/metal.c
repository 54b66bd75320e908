/* Metal, the Objective-C runtime and macOS's sysctlbyname in one library. script.h says how it is made to fail;
 * beside its variables:
 *   FAKE_METAL_DEVICES  by ',': m1 m3 radeon intel. Unset: none
 *   FAKE_METAL_MACOS    the system's version; unset: sysctlbyname fails
 * Objects are pointers to what stands behind them; selectors are their names. */
#define FAKE_PREFIX "METAL"
#include "script.h"

struct model {
  const char* key;
  const char* name;
  long family; /* highest MTLGPUFamilyApple; 0: none */
  unsigned char low_power, unified;
  uint64_t working_set;
};
static const struct model models[] = {
    {"m1", "Apple M1", 1007, 0, 1, UINT64_C(11) << 30},
    {"m3", "Apple M3 Max", 1009, 0, 1, UINT64_C(48) << 30},
    {"radeon", "AMD Radeon Pro 5500M", 0, 0, 0, UINT64_C(8) << 30},
    {"intel", "Intel UHD Graphics 630", 0, 1, 1, UINT64_C(1) << 30},
};
static const struct model* devices[8];
static unsigned long device_count;
static int pools; /* open autorelease pools */

#ifdef FAKE_MISSING_SYMBOL /* a system whose Metal lists no devices */
#define MTLCopyAllDevices MTLCreateSystemDefaultDevice
#endif
FAKE_EXPORT void* MTLCopyAllDevices(void) {
  char text[128];
  char* state = NULL;
  char* key;
  size_t i;
  snprintf(text, sizeof text, "%s", script_text("DEVICES"));
  device_count = 0;
  for (key = strtok_r(text, ",", &state); key != NULL; key = strtok_r(NULL, ",", &state)) {
    for (i = 0; i < sizeof models / sizeof models[0]; ++i) {
      if (strcmp(models[i].key, key) == 0 && device_count < 8) devices[device_count++] = &models[i];
    }
  }
  return (void*)devices;
}

FAKE_EXPORT const char* sel_registerName(const char* name) {
  return name;
}

FAKE_EXPORT void* objc_autoreleasePoolPush(void) {
  return ++pools, (void*)&pools;
}

FAKE_EXPORT void objc_autoreleasePoolPop(void* pool) {
  if (pool != &pools || pools != 1) abort();
  --pools;
}

/* A caller reads of the result as much as its own type has. */
FAKE_EXPORT uintptr_t objc_msgSend(void* object, const char* selector, unsigned long argument) {
  const struct model* const device = object;
  if (pools != 1) abort(); /* everything that Metal gives out lives in a pool */
  misbehave(selector);
  if (object == (void*)devices) {
    if (strcmp(selector, "count") == 0) return device_count;
    if (strcmp(selector, "objectAtIndex:") == 0 && argument < device_count) return (uintptr_t)devices[argument];
    if (strcmp(selector, "release") == 0) return device_count = 0;
    abort();
  }
  if (strcmp(selector, "UTF8String") == 0) return (uintptr_t)object;
  if (strcmp(selector, "name") == 0) return (uintptr_t)device->name;
  if (strcmp(selector, "isLowPower") == 0) return device->low_power;
  if (strcmp(selector, "hasUnifiedMemory") == 0) return device->unified;
  if (strcmp(selector, "recommendedMaxWorkingSetSize") == 0) return device->working_set;
  if (strcmp(selector, "supportsFamily:") == 0) {
    return device->family != 0 && argument > 1000 && (long)argument <= device->family;
  }
  abort(); /* unrecognized selector */
}

FAKE_EXPORT int sysctlbyname(const char* name, void* value, size_t* size, void* changed, size_t changed_size) {
  const char* version = script("MACOS");
  if (strcmp(name, "kern.osproductversion") != 0 || version == NULL || changed != NULL || changed_size != 0) return -1;
  if (*size <= strlen(version)) return -1;
  memcpy(value, version, strlen(version) + 1);
  *size = strlen(version) + 1;
  return 0;
}
