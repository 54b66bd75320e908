/* The Level Zero loader and driver in one. script.h says how it is made to fail; beside its variables:
 *   FAKE_ZE_DRIVERS  drivers by ';', their devices by ',': a770 pvc b580 igpu old npu. Unset: none
 *   FAKE_ZE_API      the drivers' interface version, "1.3"; default 1.6
 *   FAKE_ZE_COUNT    what zeDeviceGet says that there are, whatever there is
 *   ZE_AFFINITY_MASK as Intel's driver does: numbers of the devices that stay; zeInit fails when none does
 * Declarations as in Level Zero's specification, written apart from the plugin's. */
#define FAKE_PREFIX "ZE"
#include "script.h"

#define RESULT_UNINITIALIZED 0x78000001u
#define RESULT_INVALID 0x78000004u
#define MAX_DEVICES 16

struct base {
  uint32_t type;
  void* next;
};
struct driver_properties {
  struct base base;
  uint8_t uuid[16];
  uint32_t version;
};
struct ip_version {
  struct base base;
  uint32_t version;
};
struct device_properties {
  struct base base;
  uint32_t type, vendor, device, flags, subdevice, clock;
  uint64_t max_allocation;
  uint32_t contexts, priority, threads, simd, units, subslices, slices;
  uint64_t timer;
  uint32_t bits, kernel_bits;
  uint8_t uuid[16];
  char name[256];
};
struct memory_properties {
  struct base base;
  uint32_t flags, clock, width;
  uint64_t total;
  char name[256];
};
struct pci_properties {
  struct base base;
  uint32_t domain, bus, device, function;
  int32_t generation, lanes;
  int64_t bandwidth;
};
struct module_properties {
  struct base base;
  uint32_t spirv, flags, fp16, fp32, fp64, arguments, printf_size;
  uint8_t uuid[16];
};

struct model {
  const char* key;
  const char* name;
  uint32_t type; /* 1 GPU, 5 VPU */
  uint32_t integrated;
  uint32_t ip;
  uint32_t module; /* 1 fp16, 2 fp64 */
  uint64_t memory;
};
#define IP(major, release, revision) ((uint32_t)(major) << 22 | (uint32_t)(release) << 14 | (revision))
static const struct model models[] = {
    {"a770", "Intel(R) Arc(TM) A770 Graphics", 1, 0, IP(12, 55, 8), 1, UINT64_C(16) << 30},
    {"pvc", "Intel(R) Data Center GPU Max 1100", 1, 0, IP(12, 60, 7), 3, UINT64_C(48) << 30},
    {"b580", "Intel(R) Arc(TM) B580 Graphics", 1, 0, IP(20, 1, 4), 3, UINT64_C(12) << 30},
    {"igpu", "Intel(R) Iris(R) Xe Graphics", 1, 1, IP(12, 3, 0), 1, UINT64_C(8) << 30},
    {"old", "Intel(R) UHD Graphics 630", 1, 1, 0, 3, UINT64_C(4) << 30},
    {"npu", "Intel(R) AI Boost", 5, 1, 0, 1, UINT64_C(1) << 30},
};

struct device {
  const struct model* model;
  unsigned driver;
  unsigned number; /* over all drivers, as in the affinity mask */
};
static struct device devices[MAX_DEVICES];
static unsigned device_count;
static char drivers[MAX_DEVICES];
static unsigned driver_count;

static int in_mask(unsigned number) {
  char text[16];
  char mask[256];
  char* item;
  char* state = NULL;
  const char* set = getenv("ZE_AFFINITY_MASK");
  if (set == NULL || *set == '\0') return 1;
  snprintf(mask, sizeof mask, "%s", set);
  snprintf(text, sizeof text, "%u", number);
  for (item = strtok_r(mask, ",", &state); item != NULL; item = strtok_r(NULL, ",", &state)) {
    if (strcmp(item, text) == 0) return 1;
  }
  return 0;
}

static void add_device(const char* key, unsigned driver, unsigned number) {
  size_t i;
  for (i = 0; i < sizeof models / sizeof models[0]; ++i) {
    if (strcmp(models[i].key, key) == 0 && device_count < MAX_DEVICES && in_mask(number)) {
      devices[device_count].model = &models[i];
      devices[device_count].driver = driver;
      devices[device_count++].number = number;
    }
  }
}

FAKE_EXPORT uint32_t zeInit(uint32_t flags) {
  const int result = result_of(__func__);
  char text[256];
  char* cursor = text;
  unsigned number = 0;
  (void)flags;
  if (result != 0) return (uint32_t)result;
  device_count = driver_count = 0;
  snprintf(text, sizeof text, "%s", script_text("DRIVERS"));
  while (*text != '\0' && cursor != NULL && driver_count < MAX_DEVICES) {
    char* const driver = cursor;
    char* state = NULL;
    char* key;
    cursor = strchr(cursor, ';');
    if (cursor != NULL) *cursor++ = '\0';
    for (key = strtok_r(driver, ",", &state); key != NULL; key = strtok_r(NULL, ",", &state)) {
      add_device(key, driver_count, number++);
    }
    ++driver_count;
  }
  return number != 0 && device_count == 0 ? RESULT_UNINITIALIZED : driver_count == 0 ? RESULT_UNINITIALIZED : 0;
}

FAKE_EXPORT uint32_t zeDriverGet(uint32_t* count, void** handles) {
  unsigned i;
  const int result = result_of(__func__);
  if (result != 0) return (uint32_t)result;
  if (handles != NULL) {
    for (i = 0; i < *count && i < driver_count; ++i) handles[i] = &drivers[i];
  }
  *count = driver_count;
  return 0;
}

FAKE_EXPORT uint32_t zeDriverGetApiVersion(void* driver, uint32_t* version) {
  unsigned major = 1;
  unsigned minor = 6;
  (void)driver;
  sscanf(script_text("API"), "%u.%u", &major, &minor);
  *version = major << 16 | minor;
  return (uint32_t)result_of(__func__);
}

FAKE_EXPORT uint32_t zeDriverGetProperties(void* driver, struct driver_properties* properties) {
  if (properties->base.type != 0x1) return RESULT_INVALID;
  memset(properties->uuid, (char*)driver - drivers, sizeof properties->uuid);
  properties->version = UINT32_C(1) << 24 | UINT32_C(6) << 16 | 33578u;
  return (uint32_t)result_of(__func__);
}

FAKE_EXPORT uint32_t zeDeviceGet(void* driver, uint32_t* count, void** handles) {
  const int result = result_of(__func__);
  uint32_t found = 0;
  unsigned i;
  if (result != 0) return (uint32_t)result;
  for (i = 0; i < device_count; ++i) {
    if (devices[i].driver != (unsigned)((char*)driver - drivers)) continue;
    if (handles != NULL && found < *count) handles[found] = &devices[i];
    ++found;
  }
  *count = (uint32_t)script_number("COUNT", found);
  return 0;
}

FAKE_EXPORT uint32_t zeDeviceGetProperties(void* handle, struct device_properties* properties) {
  const struct device* device = handle;
  struct base* next;
  if (properties->base.type != 0x3) return RESULT_INVALID;
  for (next = properties->base.next; next != NULL; next = next->next) {
    if (next->type == 0x1000f && device->model->ip != 0) ((struct ip_version*)next)->version = device->model->ip;
  }
  properties->type = device->model->type;
  properties->vendor = 0x8086;
  properties->flags = device->model->integrated;
  memset(properties->uuid, 0, sizeof properties->uuid);
  properties->uuid[0] = 0x86;
  properties->uuid[1] = 0x80;
  properties->uuid[15] = (uint8_t)device->number;
  snprintf(properties->name, sizeof properties->name, "%s", device->model->name);
  return (uint32_t)result_of(__func__);
}

FAKE_EXPORT uint32_t zeDeviceGetMemoryProperties(void* handle, uint32_t* count, struct memory_properties* memories) {
  const struct device* device = handle;
  if (memories != NULL && *count > 0) {
    if (memories->base.type != 0x7) return RESULT_INVALID;
    memories->total = device->model->memory;
  }
  *count = 1;
  return (uint32_t)result_of(__func__);
}

FAKE_EXPORT uint32_t zeDeviceGetModuleProperties(void* handle, struct module_properties* properties) {
  const struct device* device = handle;
  if (properties->base.type != 0x5) return RESULT_INVALID;
  properties->flags = device->model->module;
  return (uint32_t)result_of(__func__);
}

#ifdef FAKE_MISSING_SYMBOL /* a loader from before this function */
#define zeDevicePciGetPropertiesExt zeDevicePciGetNothing
#endif
FAKE_EXPORT uint32_t zeDevicePciGetPropertiesExt(void* handle, struct pci_properties* properties) {
  const struct device* device = handle;
  if (properties->base.type != 0x10008) return RESULT_INVALID;
  properties->domain = 0;
  properties->bus = device->model->integrated ? 0 : 0xa3u + device->number;
  properties->device = device->model->integrated ? 2 : 0;
  properties->function = 0;
  return (uint32_t)result_of(__func__);
}
