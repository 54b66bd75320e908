/* What the fake drivers share: answers are programmed by environment variables, PREFIX being CUDA or HIP.
 *   FAKE_PREFIX_MODE     crash, hang, chatty (writes to both outputs), garbage (every answer is noise)
 *   FAKE_PREFIX_VERSION  the driver's version, as its function gives it
 *   FAKE_PREFIX_FAIL     "function=code;function=code": these answer with an error
 *   FAKE_PREFIX_COUNT    what the count of devices says, whatever there is
 *   FAKE_PREFIX_DEVICES  "name|number|PCI address|bytes;...": the devices; number is the compute capability, times ten
 */
#ifndef LEROBOT_FAKE_SCRIPT_H
#define LEROBOT_FAKE_SCRIPT_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_MOST 16

struct fake_device {
  char name[128];
  int number;
  char pci[32];
  size_t memory;
  int ordinal; /* among all devices, hidden ones included */
};

static const char* script(const char* name) {
  char variable[64];
  snprintf(variable, sizeof variable, "FAKE_" FAKE_PREFIX "_%s", name);
  return getenv(variable);
}

static int mode_is(const char* mode) {
  const char* set = script("MODE");
  return set && strcmp(set, mode) == 0;
}

static long script_number(const char* name, long otherwise) {
  const char* text = script(name);
  return text ? atol(text) : otherwise;
}

/* The code with which a function is to fail, 0 for none. */
static int failure_of(const char* function) {
  const char* list = script("FAIL");
  const size_t length = strlen(function);
  while (list && *list) {
    if (strncmp(list, function, length) == 0 && list[length] == '=') return atoi(list + length + 1);
    list = strchr(list, ';');
    if (list) ++list;
  }
  return 0;
}

/* How the first call of a driver misbehaves. */
static void misbehave(void) {
  if (mode_is("crash")) raise(SIGSEGV);
  while (mode_is("hang")) pause();
  if (mode_is("chatty")) {
    printf("{\"usable\": false}\n");
    fprintf(stderr, "fake driver: hello\n");
    fflush(stdout);
  }
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

#endif
