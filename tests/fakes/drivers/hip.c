/* A libamdhip64.so without a device: script.h and numbered_devices.h say how its answers are programmed. Honours
 * ROCR_VISIBLE_DEVICES, then HIP_VISIBLE_DEVICES or, where that is unset or empty, CUDA_VISIBLE_DEVICES, in the
 * numbering of the first. */
#define FAKE_PREFIX "HIP"
#include "numbered_devices.h"

static int visible(struct fake_device* devices) {
  const char* rocr = getenv("ROCR_VISIBLE_DEVICES");
  const char* hip = getenv("HIP_VISIBLE_DEVICES");
  int count = all_devices(devices);
  if (rocr) count = filter_devices(devices, count, rocr);
  if (!hip || !*hip) hip = getenv("CUDA_VISIBLE_DEVICES");
  if (hip && *hip) count = filter_devices(devices, count, hip);
  return count;
}

FAKE_EXPORT int hipInit(unsigned flags) {
  return answer_init(__func__, flags);
}

FAKE_EXPORT int hipDriverGetVersion(int* version) {
  return answer_version(__func__, version, 70051831);
}

FAKE_EXPORT int hipGetDeviceCount(int* count) {
  return answer_count(__func__, count);
}

FAKE_EXPORT int hipDeviceGet(int* device, int ordinal) {
  return answer_device(__func__, device, ordinal);
}

FAKE_EXPORT int hipDeviceGetName(char* name, int size, int device) {
  return answer_name(__func__, name, size, device);
}

/* The real one gives the digits as text. */
FAKE_EXPORT int hipDeviceGetUuid(char* uuid, int device) {
  struct fake_device found;
  char digits[3];
  ANSWER_ABOUT(device, &found, __func__, uuid, 16);
  snprintf(digits, sizeof digits, "%02x", uuid_byte(&found));
  memset(uuid, digits[0], 16);
  return 0;
}

FAKE_EXPORT int hipDeviceGetPCIBusId(char* text, int size, int device) {
  return answer_pci_address(__func__, text, size, device);
}

#ifdef FAKE_MISSING_SYMBOL /* a runtime without this function */
#define hipDeviceTotalMem hipDeviceTotalNothing
#endif
FAKE_EXPORT int hipDeviceTotalMem(size_t* bytes, int device) {
  return answer_memory(__func__, bytes, device);
}

FAKE_EXPORT const char* hipGetErrorName(int code) {
  return code == 35 ? "hipErrorInsufficientDriver" : code == 999 ? "hipErrorUnknown" : "hipErrorUnrecognized";
}
