/* What all fake drivers share: their answers are programmed by environment variables, PREFIX naming the driver. A
 * source defines FAKE_PREFIX before it includes this. FUNCTION is a function's name, for Metal a method's.
 *   FAKE_PREFIX_CRASH, FAKE_PREFIX_HANG   FUNCTION: this one does
 *   FAKE_PREFIX_FAIL                      "FUNCTION=code;FUNCTION=code": these answer with an error; 0x for hexadecimal
 */
#ifndef LEROBOT_FAKE_SCRIPT_H
#define LEROBOT_FAKE_SCRIPT_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

/* The value of FAKE_PREFIX_name; null when it is unset. */
static inline const char* script(const char* name) {
  char variable[64];
  snprintf(variable, sizeof variable, "FAKE_" FAKE_PREFIX "_%s", name);
  return getenv(variable);
}

static inline const char* script_text(const char* name) {
  const char* text = script(name);
  return text ? text : "";
}

static inline long script_number(const char* name, long otherwise) {
  const char* text = script(name);
  return text ? atol(text) : otherwise;
}

static inline void misbehave(const char* function) {
  if (strcmp(script_text("CRASH"), function) == 0) raise(SIGSEGV);
  while (strcmp(script_text("HANG"), function) == 0) pause();
}

/* The beginning of a function: it misbehaves, or gives the code with which it is to fail, 0 for none. */
static inline int result_of(const char* function) {
  const char* list = script("FAIL");
  const size_t length = strlen(function);
  misbehave(function);
  while (list && *list) {
    if (strncmp(list, function, length) == 0 && list[length] == '=') return (int)strtol(list + length + 1, NULL, 0);
    list = strchr(list, ';');
    if (list) ++list;
  }
  return 0;
}

#ifdef FAKE_DEPENDENCY /* a driver that needs another library */
int fake_dependency(void);
FAKE_EXPORT int fake_needs_it(void);
FAKE_EXPORT int fake_needs_it(void) {
  return fake_dependency();
}
#endif

#endif
