/* What cuda.c and hip.c share: drivers whose devices are numbers and whose functions write through a pointer and return
 * a code. Beside script.h's variables: FAKE_PREFIX_MODE     chatty (writes to both outputs), garbage (every answer is
 * noise) FAKE_PREFIX_VERSION  the driver's version, as its function gives it FAKE_PREFIX_COUNT    what the count of
 * devices says, whatever there is FAKE_PREFIX_DEVICES  "name|number|PCI address|bytes;...": the devices; number is the
 * compute capability, times ten Each answer_... is a function of the driver, which passes its own name. */
#ifndef LEROBOT_FAKE_NUMBERED_DEVICES_H
#define LEROBOT_FAKE_NUMBERED_DEVICES_H

#include "script.h"

#define FAKE_MOST 16

enum { kInvalidValue = 1, kNoDevice = 100, kInvalidDevice = 101 };

struct fake_device {
  char name[128];
  int number;
  char pci[32];
  size_t memory;
  int ordinal; /* among all devices, hidden ones included */
};

/* The driver's own: all devices that its variables leave. */
static int visible(struct fake_device* devices);

static int mode_is(const char* mode) {
  return strcmp(script_text("MODE"), mode) == 0;
}

/* All devices, hidden ones included. */
static int all_devices(struct fake_device* devices) {
  const char* text = script("DEVICES");
  int count = 0;
  while (text && *text && count < FAKE_MOST) {
    struct fake_device* device = &devices[count];
    memset(device, 0, sizeof *device);
    if (sscanf(text, "%127[^|]|%d|%31[^|]|%zu", device->name, &device->number, device->pci, &device->memory) != 4)
      break;
    device->ordinal = count++;
    text = strchr(text, ';');
    if (text) ++text;
  }
  return count;
}

/* Every byte of a device's UUID: 0x11, 0x22, ... */
static unsigned char uuid_byte(const struct fake_device* device) {
  return (unsigned char)(0x11 * (device->ordinal + 1));
}

/* "GPU-1111" names a device by the beginning of its UUID. */
static int is_named(const struct fake_device* device, const char* item, size_t length) {
  char digits[3];
  if (length < 6 || strncmp(item, "GPU-", 4) != 0) return 0;
  snprintf(digits, sizeof digits, "%02x", uuid_byte(device));
  return strncmp(item + 4, digits, 2) == 0;
}

/* Leaves the devices that a list of numbers and UUIDs names, in its order, up to the first that does not exist. */
static int filter_devices(struct fake_device* devices, int count, const char* list) {
  struct fake_device left[FAKE_MOST];
  int kept = 0;
  while (*list) {
    const size_t length = strcspn(list, ",");
    int found = -1;
    for (int i = 0; i < count; ++i) {
      if (is_named(&devices[i], list, length)) found = i;
    }
    if (found < 0 && *list >= '0' && *list <= '9' && atoi(list) < count) found = atoi(list);
    if (found < 0 || kept == FAKE_MOST) break;
    left[kept++] = devices[found];
    list += length;
    if (*list) ++list;
  }
  memcpy(devices, left, sizeof(struct fake_device) * (size_t)kept);
  return kept;
}

static int find(int device, struct fake_device* found) {
  struct fake_device devices[FAKE_MOST];
  if (device < 0 || device >= visible(devices)) return 0;
  *found = devices[device];
  return 1;
}

/* The beginning of every function but the first: a programmed failure, or noise in its output. */
#define ANSWER(function, output, size)       \
  do {                                       \
    const int failure = result_of(function); \
    if (failure) return failure;             \
    if (mode_is("garbage")) {                \
      memset(output, 0xA5, size);            \
      return 0;                              \
    }                                        \
  } while (0)

/* The same for a function about one device. */
#define ANSWER_ABOUT(device, found, function, output, size) \
  do {                                                      \
    ANSWER(function, output, size);                         \
    if (!find(device, found)) return kInvalidDevice;        \
  } while (0)

static int answer_init(const char* function, unsigned flags) {
  struct fake_device devices[FAKE_MOST];
  const int failure = result_of(function);
  if (mode_is("chatty")) {
    printf("{\"usable\": false}\n");
    fprintf(stderr, "fake driver: hello\n");
    fflush(stdout);
  }
  if (flags) return kInvalidValue;
  if (failure) return failure;
  return mode_is("garbage") || script("COUNT") || visible(devices) ? 0 : kNoDevice;
}

static int answer_version(const char* function, int* version, long otherwise) {
  ANSWER(function, version, sizeof *version);
  *version = (int)script_number("VERSION", otherwise);
  return 0;
}

static int answer_count(const char* function, int* count) {
  struct fake_device devices[FAKE_MOST];
  ANSWER(function, count, sizeof *count);
  *count = (int)script_number("COUNT", visible(devices));
  return 0;
}

static int answer_device(const char* function, int* device, int ordinal) {
  struct fake_device found;
  ANSWER_ABOUT(ordinal, &found, function, device, sizeof *device);
  *device = ordinal;
  return 0;
}

static int answer_name(const char* function, char* name, int size, int device) {
  struct fake_device found;
  ANSWER_ABOUT(device, &found, function, name, (size_t)size);
  snprintf(name, (size_t)size, "%s", found.name);
  return 0;
}

static int answer_pci_address(const char* function, char* text, int size, int device) {
  struct fake_device found;
  ANSWER_ABOUT(device, &found, function, text, (size_t)size);
  snprintf(text, (size_t)size, "%s", found.pci);
  return 0;
}

static int answer_memory(const char* function, size_t* bytes, int device) {
  struct fake_device found;
  ANSWER_ABOUT(device, &found, function, bytes, sizeof *bytes);
  *bytes = found.memory;
  return 0;
}

#endif
