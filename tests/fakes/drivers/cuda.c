/* A libcuda.so.1 without a device: script.h says how its answers are programmed. Honours CUDA_VISIBLE_DEVICES as the
 * real one does: with none left cuInit says so. */
#define FAKE_PREFIX "CUDA"
#include "script.h"

enum { kInvalidValue = 1, kNoDevice = 100, kInvalidDevice = 101 };

static int visible(struct fake_device* devices) {
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  const int count = all_devices(devices);
  return list ? filter_devices(devices, count, list) : count;
}

static int find(int device, struct fake_device* found) {
  struct fake_device devices[FAKE_MOST];
  if (device < 0 || device >= visible(devices)) return 0;
  *found = devices[device];
  return 1;
}

/* The beginning of every function: a programmed failure, or noise in its output. */
#define ANSWER(function, output, size)                     \
  do {                                                     \
    if (failure_of(function)) return failure_of(function); \
    if (mode_is("garbage")) {                              \
      memset(output, 0xA5, size);                          \
      return 0;                                            \
    }                                                      \
  } while (0)

FAKE_EXPORT int cuInit(unsigned flags) {
  struct fake_device devices[FAKE_MOST];
  misbehave();
  if (flags) return kInvalidValue;
  if (failure_of("cuInit")) return failure_of("cuInit");
  return mode_is("garbage") || script("COUNT") || visible(devices) ? 0 : kNoDevice;
}

FAKE_EXPORT int cuDriverGetVersion(int* version) {
  ANSWER("cuDriverGetVersion", version, sizeof *version);
  *version = (int)script_number("VERSION", 13000);
  return 0;
}

#ifndef FAKE_MISSING_SYMBOL
FAKE_EXPORT int cuDeviceGetCount(int* count) {
  struct fake_device devices[FAKE_MOST];
  ANSWER("cuDeviceGetCount", count, sizeof *count);
  *count = (int)script_number("COUNT", visible(devices));
  return 0;
}
#endif

FAKE_EXPORT int cuDeviceGet(int* device, int ordinal) {
  struct fake_device found;
  ANSWER("cuDeviceGet", device, sizeof *device);
  if (!find(ordinal, &found)) return kInvalidDevice;
  *device = ordinal;
  return 0;
}

FAKE_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  struct fake_device found;
  ANSWER("cuDeviceGetName", name, (size_t)size);
  if (!find(device, &found)) return kInvalidDevice;
  snprintf(name, (size_t)size, "%s", found.name);
  return 0;
}

FAKE_EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  struct fake_device found;
  ANSWER("cuDeviceGetUuid_v2", uuid, 16);
  if (!find(device, &found)) return kInvalidDevice;
  memset(uuid, uuid_byte(&found), 16);
  return 0;
}

FAKE_EXPORT int cuDeviceGetPCIBusId(char* text, int size, int device) {
  struct fake_device found;
  ANSWER("cuDeviceGetPCIBusId", text, (size_t)size);
  if (!find(device, &found)) return kInvalidDevice;
  snprintf(text, (size_t)size, "%s", found.pci);
  return 0;
}

FAKE_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  struct fake_device found;
  ANSWER("cuDeviceGetAttribute", value, sizeof *value);
  if (!find(device, &found)) return kInvalidDevice;
  *value = attribute == 75 ? found.number / 10 : attribute == 76 ? found.number % 10 : 0;
  return 0;
}

FAKE_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  struct fake_device found;
  ANSWER("cuDeviceTotalMem_v2", bytes, sizeof *bytes);
  if (!find(device, &found)) return kInvalidDevice;
  *bytes = found.memory;
  return 0;
}

FAKE_EXPORT int cuGetErrorName(int code, const char** name) {
  *name = code == 34    ? "CUDA_ERROR_STUB_LIBRARY"
          : code == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
          : code == 999 ? "CUDA_ERROR_UNKNOWN"
                        : NULL;
  return *name ? 0 : kInvalidValue;
}

#ifdef FAKE_DEPENDENCY
int fake_dependency(void);
FAKE_EXPORT int fake_needs_it(void);
FAKE_EXPORT int fake_needs_it(void) {
  return fake_dependency();
}
#endif
