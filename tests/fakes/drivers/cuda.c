/* A libcuda.so.1 without a device: script.h and numbered_devices.h say how its answers are programmed. Honours
 * CUDA_VISIBLE_DEVICES as the real one does: with none left cuInit says so. */
#define FAKE_PREFIX "CUDA"
#include "numbered_devices.h"

static int visible(struct fake_device* devices) {
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  const int count = all_devices(devices);
  return list ? filter_devices(devices, count, list) : count;
}

FAKE_EXPORT int cuInit(unsigned flags) {
  return answer_init(__func__, flags);
}

FAKE_EXPORT int cuDriverGetVersion(int* version) {
  return answer_version(__func__, version, 13000);
}

#ifdef FAKE_MISSING_SYMBOL /* a driver without this function */
#define cuDeviceGetCount cuDeviceGetNothing
#endif
FAKE_EXPORT int cuDeviceGetCount(int* count) {
  return answer_count(__func__, count);
}

FAKE_EXPORT int cuDeviceGet(int* device, int ordinal) {
  return answer_device(__func__, device, ordinal);
}

FAKE_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  return answer_name(__func__, name, size, device);
}

FAKE_EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  struct fake_device found;
  ANSWER_ABOUT(device, &found, __func__, uuid, 16);
  memset(uuid, uuid_byte(&found), 16);
  return 0;
}

FAKE_EXPORT int cuDeviceGetPCIBusId(char* text, int size, int device) {
  return answer_pci_address(__func__, text, size, device);
}

FAKE_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  struct fake_device found;
  ANSWER_ABOUT(device, &found, __func__, value, sizeof *value);
  *value = attribute == 75 ? found.number / 10 : attribute == 76 ? found.number % 10 : 0;
  return 0;
}

FAKE_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return answer_memory(__func__, bytes, device);
}

FAKE_EXPORT int cuGetErrorName(int code, const char** name) {
  *name = code == 34    ? "CUDA_ERROR_STUB_LIBRARY"
          : code == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
          : code == 999 ? "CUDA_ERROR_UNKNOWN"
                        : NULL;
  return *name ? 0 : kInvalidValue;
}
