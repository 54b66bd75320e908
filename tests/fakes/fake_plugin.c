/* A plugin without hardware and without torch. One source, built many ways: each FAKE_ define makes one thing wrong.
 * Its id is the name of the directory it lies in. Environment: FAKE_LOG (file that gets a line for each call),
 * FAKE_DEVICES (number of devices, 2). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin-api/include/lerobot_accel.h"

#ifndef FAKE_MAJOR
#define FAKE_MAJOR LRA_VERSION_MAJOR
#endif

#ifdef FAKE_DEPENDENCY
int fake_dependency(void);
#endif

static void note(const char* what) {
  const char* path = getenv("FAKE_LOG");
  FILE* log = path ? fopen(path, "a") : NULL;
  if (!log) return;
  fprintf(log, "%s %d %d\n", what, (int)getpid(), (int)getppid());
  fclose(log);
}

static lra_status failed(lra_error* error, lra_status status, const char* message) {
  if (error) {
    error->code = status;
    snprintf(error->message, sizeof error->message, "%s", message);
  }
  return status;
}

static uint32_t devices(void) {
  const char* text = getenv("FAKE_DEVICES");
  return text ? (uint32_t)atoi(text) : 2;
}

static void describe(uint32_t ordinal, lra_device_info* info) {
  info->ordinal = ordinal;
  snprintf(info->name, sizeof info->name, "Fake %u", ordinal);
  snprintf(info->pci_address, sizeof info->pci_address, "0000:%02x:00.0", ordinal + 1);
  snprintf(info->architecture, sizeof info->architecture, "fake_1");
  info->memory_total = UINT64_C(1) << 30;
}

/* The directory that this library lies in. */
static void own_id(char* id, size_t size) {
  Dl_info self;
  char path[4096] = "";
  id[0] = 0;
  if (!dladdr((void*)(uintptr_t)own_id, &self) || !self.dli_fname) return;
  snprintf(path, sizeof path, "%s", self.dli_fname);
  char* slash = strrchr(path, '/');
  if (!slash) return;
  *slash = 0;
  slash = strrchr(path, '/');
  if (slash && strlen(slash + 1) < size) strcpy(id, slash + 1);
}

#ifndef FAKE_NO_ENTRY
LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  note("probe");
#if defined(FAKE_CRASH)
  raise(SIGSEGV);
#elif defined(FAKE_HANG)
  for (;;) pause();
#elif defined(FAKE_EXIT)
  _exit(3);
#elif defined(FAKE_GARBAGE)
  for (int descriptor = 3; descriptor < 64; ++descriptor) dprintf(descriptor, "}garbage\n");
#elif defined(FAKE_CHATTY)
  printf("{\"usable\": false}\n");
  fflush(stdout);
#endif
  if (FAKE_MAJOR < args->abi_major_min || FAKE_MAJOR > args->abi_major_max) {
    return failed(error, LRA_INCOMPATIBLE, "no common major");
  }
#if defined(FAKE_UNFIT_DEVICE)
  result->availability = LRA_PROBE_UNAVAILABLE;
  result->reason_code = LRA_REASON_ARCHITECTURE;
  strcpy(result->reason, "no code for fake_1");
  result->device_count = devices();
  for (uint32_t i = 0; i < result->device_count && i < result->device_capacity; ++i) describe(i, &result->devices[i]);
#elif defined(FAKE_UNAVAILABLE)
  result->availability = LRA_PROBE_UNAVAILABLE;
  result->reason_code = LRA_REASON_DRIVER_TOO_OLD;
  strcpy(result->reason, "driver 1.0 is too old, 2.0 is needed");
  strcpy(result->hint, "Install driver 2.0");
#else
  result->availability = LRA_PROBE_USABLE;
  result->device_count = devices();
  strcpy(result->driver_version, "2.1");
  for (uint32_t i = 0; i < result->device_count && i < result->device_capacity; ++i) describe(i, &result->devices[i]);
#endif
  return LRA_OK;
}

#ifdef FAKE_INIT_OVERFLOWS_THE_STACK
static int overflow_the_stack(int depth) {
  volatile char block[4096];
  block[depth % 4096] = (char)depth;
  return overflow_the_stack(depth + 1) + block[0];
}
#endif

static lra_log_fn host_log;
static void* host_log_context;
static int context_storage;

static lra_status fake_init(const lra_init_args* args, lra_context** context, lra_error* error) {
  note("init");
#if defined(FAKE_INIT_CRASHES)
  raise(SIGSEGV);
#elif defined(FAKE_INIT_ABORTS)
  abort();
#elif defined(FAKE_INIT_EXITS)
  exit(0);
#elif defined(FAKE_INIT_OVERFLOWS_THE_STACK)
  overflow_the_stack(0);
#endif
#ifdef FAKE_INIT_FAILS
  return failed(error, LRA_UNAVAILABLE, "the fake driver went away");
#endif
  (void)error;
  host_log = args->log;
  host_log_context = args->log_context;
  if (host_log) host_log(host_log_context, LRA_LOG_INFO, "the fake says hello", 19);
  *context = (lra_context*)(void*)&context_storage;
  return LRA_OK;
}

static lra_status fake_shutdown(lra_context* context, lra_error* error) {
  (void)context, (void)error;
  note("shutdown");
  return LRA_OK;
}

static lra_status fake_count(lra_context* context, uint32_t* count, lra_error* error) {
  (void)context, (void)error;
  *count = devices();
  return LRA_OK;
}

static lra_status fake_info(lra_context* context, uint32_t device, lra_device_info* info, lra_error* error) {
  (void)context, (void)error;
  describe(device, info);
  info->torch_index = (int32_t)device;
  snprintf(info->torch_device, sizeof info->torch_device, "fake:%u", device);
  return LRA_OK;
}

static lra_status fake_activate(lra_context* context, uint32_t device, lra_error* error) {
  (void)context, (void)device, (void)error;
  return LRA_OK;
}

static lra_status fake_synchronize(lra_context* context, const lra_synchronize_args* args, lra_error* error) {
  (void)context, (void)args, (void)error;
  return LRA_OK;
}

static lra_status fake_selftest(lra_context* context, uint32_t device, lra_error* error) {
  (void)context, (void)device, (void)error;
  note("selftest");
#ifdef FAKE_SELFTEST_FAILS
  return failed(error, LRA_UNSUPPORTED, "this build has no code for fake_1");
#endif
  return LRA_OK;
}

LRA_EXPORT lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error) {
  note("get_api");
#ifdef FAKE_DEPENDENCY
  fake_dependency();
#endif
#ifndef FAKE_LIES_ABOUT_MAJOR
  if (FAKE_MAJOR < host->abi_major_min || FAKE_MAJOR > host->abi_major_max) {
    return failed(error, LRA_INCOMPATIBLE, "no common major");
  }
#endif
  (void)host, (void)error;
  api->abi_major = FAKE_MAJOR;
#ifdef FAKE_MINOR
  api->abi_minor = FAKE_MINOR;
#endif
#ifdef FAKE_REQUIRED_TABLE
  api->struct_size = offsetof(lra_api, autocast_query);
#endif
  api->abi_major_min = FAKE_MAJOR;
  api->abi_major_max = FAKE_MAJOR;
  own_id(api->plugin_id, sizeof api->plugin_id);
  strcpy(api->plugin_version, "1.0");
  api->init = fake_init;
  api->shutdown = fake_shutdown;
  api->device_count = fake_count;
  api->device_info = fake_info;
#ifndef FAKE_SHORT_TABLE
  api->activate_device = fake_activate;
  api->synchronize = fake_synchronize;
  api->selftest = fake_selftest;
#else
  (void)fake_activate, (void)fake_synchronize, (void)fake_selftest;
#endif
  return LRA_OK;
}
#endif
