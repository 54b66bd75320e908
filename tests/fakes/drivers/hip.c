/* A libamdhip64.so without a device: script.h says how its answers are programmed. Honours ROCR_VISIBLE_DEVICES, then
 * HIP_VISIBLE_DEVICES or, where that is unset or empty, CUDA_VISIBLE_DEVICES, in the numbering of the first. */
#define FAKE_PREFIX "HIP"
#include "script.h"

enum { kInvalidValue = 1, kNoDevice = 100, kInvalidDevice = 101 };

static int visible(struct fake_device* devices) {
  const char* rocr = getenv("ROCR_VISIBLE_DEVICES");
  const char* hip = getenv("HIP_VISIBLE_DEVICES");
  int count = all_devices(devices);
  if (rocr) count = filter_devices(devices, count, rocr);
  if (!hip || !*hip) hip = getenv("CUDA_VISIBLE_DEVICES");
  if (hip && *hip) count = filter_devices(devices, count, hip);
  return count;
}

static int find(int device, struct fake_device* found) {
  struct fake_device devices[FAKE_MOST];
  if (device < 0 || device >= visible(devices)) return 0;
  *found = devices[device];
  return 1;
}

#define ANSWER(function, output, size)                     \
  do {                                                     \
    if (failure_of(function)) return failure_of(function); \
    if (mode_is("garbage")) {                              \
      memset(output, 0xA5, size);                          \
      return 0;                                            \
    }                                                      \
  } while (0)

FAKE_EXPORT int hipInit(unsigned flags) {
  struct fake_device devices[FAKE_MOST];
  misbehave();
  if (flags) return kInvalidValue;
  if (failure_of("hipInit")) return failure_of("hipInit");
  return mode_is("garbage") || script("COUNT") || visible(devices) ? 0 : kNoDevice;
}

FAKE_EXPORT int hipDriverGetVersion(int* version) {
  ANSWER("hipDriverGetVersion", version, sizeof *version);
  *version = (int)script_number("VERSION", 70051831);
  return 0;
}

FAKE_EXPORT int hipGetDeviceCount(int* count) {
  struct fake_device devices[FAKE_MOST];
  ANSWER("hipGetDeviceCount", count, sizeof *count);
  *count = (int)script_number("COUNT", visible(devices));
  return 0;
}

FAKE_EXPORT int hipDeviceGet(int* device, int ordinal) {
  struct fake_device found;
  ANSWER("hipDeviceGet", device, sizeof *device);
  if (!find(ordinal, &found)) return kInvalidDevice;
  *device = ordinal;
  return 0;
}

FAKE_EXPORT int hipDeviceGetName(char* name, int size, int device) {
  struct fake_device found;
  ANSWER("hipDeviceGetName", name, (size_t)size);
  if (!find(device, &found)) return kInvalidDevice;
  snprintf(name, (size_t)size, "%s", found.name);
  return 0;
}

/* The real one gives the digits as text. */
FAKE_EXPORT int hipDeviceGetUuid(char* uuid, int device) {
  struct fake_device found;
  char digits[3];
  ANSWER("hipDeviceGetUuid", uuid, 16);
  if (!find(device, &found)) return kInvalidDevice;
  snprintf(digits, sizeof digits, "%02x", uuid_byte(&found));
  memset(uuid, digits[0], 16);
  return 0;
}

FAKE_EXPORT int hipDeviceGetPCIBusId(char* text, int size, int device) {
  struct fake_device found;
  ANSWER("hipDeviceGetPCIBusId", text, (size_t)size);
  if (!find(device, &found)) return kInvalidDevice;
  snprintf(text, (size_t)size, "%s", found.pci);
  return 0;
}

#ifndef FAKE_MISSING_SYMBOL
FAKE_EXPORT int hipDeviceTotalMem(size_t* bytes, int device) {
  struct fake_device found;
  ANSWER("hipDeviceTotalMem", bytes, sizeof *bytes);
  if (!find(device, &found)) return kInvalidDevice;
  *bytes = found.memory;
  return 0;
}
#endif

FAKE_EXPORT const char* hipGetErrorName(int code) {
  return code == 35 ? "hipErrorInsufficientDriver" : code == 999 ? "hipErrorUnknown" : "hipErrorUnrecognized";
}

#ifdef FAKE_DEPENDENCY
int fake_dependency(void);
FAKE_EXPORT int fake_needs_it(void);
FAKE_EXPORT int fake_needs_it(void) {
  return fake_dependency();
}
#endif
