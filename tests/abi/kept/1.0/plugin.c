/* A plugin for version 1.0 of the contract, kept as the binaries beside it: every later host must load those. This
 * source is for reading; nothing builds it any more. Needs the contract's header of that version and the C library, no
 * torch. Its devices are memory of the host, so that whoever calls it sees what it did.
 *
 * Built with gcc 12 from the project's root, for linux-x86_64:
 *   for part in probe accel; do
 *     gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared -fvisibility=hidden -Iplugin-api/include \
 *       -DKEPT_PART_$part -s -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,defs \
 *       -o tests/abi/kept/1.0/linux-x86_64/kept/libkept_$part.so tests/abi/kept/1.0/plugin.c
 *   done
 */
#include <lerobot_accel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define DEVICES 2u
#define LARGEST_STRUCT 65536u

#if LRA_VERSION_MAJOR != 1 || LRA_VERSION_MINOR != 0
#error "this plugin is one of version 1.0"
#endif

/* ---- the contract's rules ---------------------------------------------------------------------------------------- */

static lra_status failed(lra_error* error, lra_status status, const char* message) {
  if (error && error->struct_size >= sizeof *error) {
    error->code = status;
    error->vendor_code = 0;
    snprintf(error->message, sizeof error->message, "kept: %s", message);
    error->hint[0] = 0;
  }
  return status;
}

/* The size of a struct that the caller passed, which may be longer than this version's. */
static lra_status check_size(const void* pointer, uint32_t first_size, lra_error* error) {
  uint32_t size;
  if (!pointer) return failed(error, LRA_INVALID_ARGUMENT, "a null pointer");
  memcpy(&size, pointer, sizeof size);
  if (size < first_size || size > LARGEST_STRUCT)
    return failed(error, LRA_INVALID_ARGUMENT, "a struct of a wrong size");
  return LRA_OK;
}

/* A copy of an argument struct; bytes past the size that this version knows must be zero. */
static lra_status read_args(void* own, const void* args, uint32_t size, lra_error* error) {
  const lra_status status = check_size(args, size, error);
  if (status != LRA_OK) return status;
  uint32_t given;
  memcpy(&given, args, sizeof given);
  for (uint32_t i = size; i < given; ++i) {
    if (((const char*)args)[i] != 0)
      return failed(error, LRA_UNSUPPORTED, "the host asks for something newer than 1.0");
  }
  memcpy(own, args, size);
  return LRA_OK;
}

static lra_status reserved(uint64_t field, lra_error* error) {
  return field == 0 ? LRA_OK : failed(error, LRA_UNSUPPORTED, "a reserved field is not 0");
}

static lra_status check_text(const char* text, uint64_t size, lra_error* error) {
  return text || size == 0 ? LRA_OK : failed(error, LRA_INVALID_ARGUMENT, "a text is null");
}

#define TRY(call)                                \
  do {                                           \
    const lra_status try_status = (call);        \
    if (try_status != LRA_OK) return try_status; \
  } while (0)

static void describe(uint32_t ordinal, lra_device_info* info) {
  memset(info, 0, sizeof *info);
  info->struct_size = sizeof *info;
  info->ordinal = ordinal;
  info->capabilities =
      LRA_CAP_FLOAT64 | LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE | LRA_CAP_TF32 | LRA_CAP_UNIFIED_MEMORY;
  info->memory_total = UINT64_C(1) << 30;
  info->memory_free = UINT64_C(1) << 29;
  snprintf(info->name, sizeof info->name, "Kept device %u", ordinal);
  snprintf(info->pci_address, sizeof info->pci_address, "00ff:%02x:00.0", ordinal + 1);
  snprintf(info->uuid, sizeof info->uuid, "kept-%u", ordinal);
  snprintf(info->architecture, sizeof info->architecture, "kept_1");
}

static lra_status check_majors(uint32_t min, uint32_t max, lra_error* error) {
  return min <= 1 && max >= 1 ? LRA_OK
                              : failed(error, LRA_INCOMPATIBLE, "this plugin speaks version 1 of the contract");
}

#ifdef KEPT_PART_probe
/* ---- the thin library -------------------------------------------------------------------------------------------- */

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  lra_probe_args own;
  TRY(read_args(&own, args, sizeof own, error));
  TRY(reserved(own.reserved, error));
  TRY(check_text(own.package_directory, own.package_directory_size, error));
  TRY(check_text(own.device_archs, own.device_archs_size, error));
  TRY(check_text(own.torch_directory, own.torch_directory_size, error));
  TRY(check_text(own.torch_version, own.torch_version_size, error));
  TRY(check_size(result, sizeof *result, error));
  uint32_t stride = 0;
  if (result->device_capacity != 0) {
    TRY(check_size(result->devices, sizeof(lra_device_info), error));
    stride = result->devices->struct_size;
    if (stride % 8 != 0) return failed(error, LRA_INVALID_ARGUMENT, "elements of a size that is no multiple of 8");
  }
  TRY(check_majors(own.abi_major_min, own.abi_major_max, error));
  for (uint32_t i = 0; i < DEVICES && i < result->device_capacity; ++i) {
    lra_device_info info;
    describe(i, &info);
    memcpy((char*)result->devices + (size_t)i * stride, &info, sizeof info);
  }
  result->struct_size = sizeof *result;
  result->availability = LRA_PROBE_USABLE;
  result->reason_code = LRA_REASON_NONE;
  result->device_count = DEVICES;
  snprintf(result->driver_version, sizeof result->driver_version, "1.0-kept");
  snprintf(result->reason, sizeof result->reason, "a remark of the kept plugin");
  result->hint[0] = 0;
  return LRA_OK;
}

#endif
#ifdef KEPT_PART_accel
/* ---- the full library: state ------------------------------------------------------------------------------------- */

/* The table "kept.notes/1": what was called. */
typedef struct kept_notes {
  uint32_t struct_size;
  uint32_t activated_device; /* the last one */
  uint64_t synchronizations;
  uint64_t selftests;
  uint64_t seed; /* the last one */
  uint64_t open_scopes;
  uint64_t unscaled_elements;
} kept_notes;

struct lra_context {
  lra_log_fn log;
  void* log_context;
};

static struct lra_context only;
static atomic_bool live;
static kept_notes notes = {sizeof(kept_notes), 0, 0, 0, 0, 0, 0};
static lra_tf32 tf32 = {sizeof(lra_tf32), LRA_TF32_OFF, LRA_TF32_ON, 0};

#define MAX_SCOPES 32
typedef struct scopes {
  unsigned count;
  uint64_t tokens[MAX_SCOPES];
} scopes;

static _Thread_local scopes own_scopes;
static atomic_uint_least64_t open_scopes;
static atomic_uint_least64_t next_token = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t scopes_key;

/* A thread may end inside a scope, which ends with it. */
static void forget_scopes(void* of_thread) {
  open_scopes -= ((scopes*)of_thread)->count;
}

static void make_key(void) {
  pthread_key_create(&scopes_key, forget_scopes);
}

static lra_status check_context(const lra_context* context, lra_error* error) {
  if (!live) return failed(error, LRA_WRONG_STATE, "not initialized");
  return context == &only ? LRA_OK : failed(error, LRA_INVALID_ARGUMENT, "not the context of init");
}

static lra_status check_device(const lra_context* context, uint32_t device, lra_error* error) {
  TRY(check_context(context, error));
  return device < DEVICES ? LRA_OK : failed(error, LRA_INVALID_ARGUMENT, "no such device");
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static lra_status kept_init(const lra_init_args* args, lra_context** context, lra_error* error) {
  lra_init_args own;
  TRY(read_args(&own, args, sizeof own, error));
  TRY(reserved(own.reserved, error));
  if (!context) return failed(error, LRA_INVALID_ARGUMENT, "context is null");
  if (live) return failed(error, LRA_WRONG_STATE, "a context exists already");
  pthread_once(&once, make_key);
  only.log = own.log;
  only.log_context = own.log_context;
  live = 1;
  *context = &only;
  static const char hello[] = "the plugin of version 1.0 says hello";
  if (only.log) only.log(only.log_context, LRA_LOG_INFO, hello, sizeof hello - 1);
  return LRA_OK;
}

static lra_status kept_shutdown(lra_context* context, lra_error* error) {
  TRY(check_context(context, error));
  if (open_scopes != 0) return failed(error, LRA_WRONG_STATE, "an autocast scope is open");
  only.log = NULL;
  live = 0;
  return LRA_OK;
}

static lra_status kept_device_count(lra_context* context, uint32_t* count, lra_error* error) {
  TRY(check_context(context, error));
  if (!count) return failed(error, LRA_INVALID_ARGUMENT, "count is null");
  *count = DEVICES;
  return LRA_OK;
}

static lra_status kept_device_info(lra_context* context, uint32_t device, lra_device_info* info, lra_error* error) {
  TRY(check_device(context, device, error));
  TRY(check_size(info, sizeof *info, error));
  describe(device, info);
  info->torch_type = 0; /* memory of the host */
  info->torch_index = -1;
  snprintf(info->torch_device, sizeof info->torch_device, "cpu");
  return LRA_OK;
}

static lra_status kept_activate_device(lra_context* context, uint32_t device, lra_error* error) {
  TRY(check_device(context, device, error));
  notes.activated_device = device;
  return LRA_OK;
}

static lra_status kept_synchronize(lra_context* context, const lra_synchronize_args* args, lra_error* error) {
  lra_synchronize_args own;
  TRY(check_context(context, error));
  TRY(read_args(&own, args, sizeof own, error));
  TRY(check_device(context, own.device, error));
  TRY(reserved(own.stream, error));
  ++notes.synchronizations;
  return LRA_OK;
}

static lra_status kept_selftest(lra_context* context, uint32_t device, lra_error* error) {
  TRY(check_device(context, device, error));
  ++notes.selftests;
  return LRA_OK;
}

/* ---- autocast ---------------------------------------------------------------------------------------------------- */

static lra_status kept_autocast_query(lra_context* context, uint32_t device, uint32_t precision,
                                      lra_autocast_support* support, lra_error* error) {
  TRY(check_device(context, device, error));
  TRY(check_size(support, sizeof *support, error));
  if (precision > LRA_PRECISION_FP16) return failed(error, LRA_INVALID_ARGUMENT, "no such precision");
  const int emulated = precision == LRA_PRECISION_BF16;
  memset(support, 0, sizeof *support);
  support->struct_size = sizeof *support;
  support->support = emulated ? LRA_SUPPORT_EMULATED : LRA_SUPPORT_NATIVE;
  if (emulated) snprintf(support->reason, sizeof support->reason, "the kept device has no bf16 units");
  return LRA_OK;
}

static lra_status kept_autocast_enter(lra_context* context, const lra_autocast_args* args, uint64_t* token,
                                      lra_error* error) {
  lra_autocast_args own;
  TRY(check_context(context, error));
  TRY(read_args(&own, args, sizeof own, error));
  TRY(reserved(own.reserved, error));
  TRY(check_device(context, own.device, error));
  if (!token) return failed(error, LRA_INVALID_ARGUMENT, "token is null");
  if (own.precision > LRA_PRECISION_FP16) return failed(error, LRA_INVALID_ARGUMENT, "no such precision");
  if (own_scopes.count == MAX_SCOPES) return failed(error, LRA_OUT_OF_MEMORY, "too many scopes");
  pthread_setspecific(scopes_key, &own_scopes);
  *token = next_token++;
  own_scopes.tokens[own_scopes.count++] = *token;
  ++open_scopes;
  return LRA_OK;
}

static lra_status kept_autocast_exit(lra_context* context, uint64_t token, lra_error* error) {
  TRY(check_context(context, error));
  if (token == 0) return failed(error, LRA_INVALID_ARGUMENT, "token is 0");
  if (own_scopes.count == 0 || own_scopes.tokens[own_scopes.count - 1] != token) {
    return failed(error, LRA_WRONG_STATE, "not this thread's innermost scope");
  }
  --own_scopes.count;
  --open_scopes;
  return LRA_OK;
}

/* ---- the scaler, over memory of the host ------------------------------------------------------------------------- */

/* float16 and bfloat16 as float32 and back, to nearest even. */
static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t shift_to_nearest(uint32_t value, unsigned shift) {
  const uint32_t rest = value & ((1u << shift) - 1), half = 1u << (shift - 1);
  value >>= shift;
  return value + (rest > half || (rest == half && (value & 1)));
}

static float from_float16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u, digits = half & 1023u;
  if (exponent == 31) return from_bits(sign | 0x7f800000u | digits << 13);
  if (exponent != 0) return from_bits(sign | (exponent + 112) << 23 | digits << 13);
  const float small = (float)digits * 0x1p-24F;
  return sign ? -small : small;
}

static uint16_t to_float16(float value) {
  const uint32_t bits = to_bits(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (size >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds to infinity */
  if (size >= 0x38800000u) return (uint16_t)(sign | shift_to_nearest(size - 0x38000000u, 13));
  const unsigned shift = 126 - (size >> 23); /* a number below float16's normal ones */
  if (shift > 31) return (uint16_t)sign;
  return (uint16_t)(sign | shift_to_nearest((size & 0x7fffffu) | 0x800000u, shift));
}

static uint16_t to_bfloat16(float value) {
  const uint32_t bits = to_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)shift_to_nearest(bits, 16);
}

static int is_finite(float value) {
  return (to_bits(value) & 0x7f800000u) != 0x7f800000u;
}

/* A view that passed every test, as its caller's bytes. */
typedef struct checked_view {
  lra_tensor_view view;
  char* first;
  uint64_t elements;
} checked_view;

static lra_status read_view(checked_view* checked, const lra_tensor_view* view, lra_error* error) {
  lra_tensor_view* own = &checked->view;
  TRY(read_args(own, view, sizeof *own, error));
  TRY(reserved(own->reserved, error));
  if (own->torch_type != 0 || own->torch_index != -1) return failed(error, LRA_INVALID_ARGUMENT, "not on this device");
  if (own->ndim > LRA_MAX_DIMS || own->dtype_lanes != 1) return failed(error, LRA_INVALID_ARGUMENT, "a wrong shape");
  checked->elements = 1;
  for (uint32_t i = 0; i < own->ndim; ++i) {
    if (own->shape[i] < 0 || own->strides[i] < 0)
      return failed(error, LRA_INVALID_ARGUMENT, "a negative size or stride");
    checked->elements *= (uint64_t)own->shape[i];
  }
  if (checked->elements != 0 && !own->base) return failed(error, LRA_INVALID_ARGUMENT, "base is null");
  if (own->dtype_bits % 8 != 0 || own->dtype_bits == 0 || own->byte_offset % (own->dtype_bits / 8u) != 0) {
    return failed(error, LRA_INVALID_ARGUMENT, "an offset inside an element");
  }
  checked->first = own->base ? (char*)own->base + own->byte_offset : NULL;
  return LRA_OK;
}

static int is_type(const lra_tensor_view* view, unsigned code, unsigned bits) {
  return view->dtype_code == code && view->dtype_bits == bits;
}

static lra_status read_cell(checked_view* cell, const lra_tensor_view* view, unsigned code, lra_error* error) {
  TRY(read_view(cell, view, error));
  if (is_type(&cell->view, code, 32) && cell->elements == 1) return LRA_OK;
  return failed(error, LRA_INVALID_ARGUMENT, "a cell is one element of 32 bits");
}

static lra_status read_gradient(checked_view* gradient, const lra_tensor_view* view, lra_error* error) {
  TRY(read_view(gradient, view, error));
  const lra_tensor_view* own = &gradient->view;
  if (is_type(own, LRA_DTYPE_FLOAT, 32) || is_type(own, LRA_DTYPE_FLOAT, 16) || is_type(own, LRA_DTYPE_BFLOAT, 16)) {
    return LRA_OK;
  }
  return failed(error, LRA_INVALID_ARGUMENT, "a gradient of a wrong type");
}

/* Multiplies one element. Returns whether it was finite before. */
static int unscale_element(const lra_tensor_view* view, char* element, float inv_scale) {
  uint16_t half;
  float value;
  if (view->dtype_bits == 32) {
    memcpy(&value, element, sizeof value);
  } else {
    memcpy(&half, element, sizeof half);
    value = view->dtype_code == LRA_DTYPE_BFLOAT ? from_bits((uint32_t)half << 16) : from_float16(half);
  }
  const float product = value * inv_scale;
  if (view->dtype_bits == 32) {
    memcpy(element, &product, sizeof product);
  } else {
    half = view->dtype_code == LRA_DTYPE_BFLOAT ? to_bfloat16(product) : to_float16(product);
    memcpy(element, &half, sizeof half);
  }
  return is_finite(value);
}

/* Returns whether every element was finite. */
static int unscale(const checked_view* gradient, float inv_scale) {
  const lra_tensor_view* view = &gradient->view;
  int finite = 1;
  for (uint64_t i = 0; i < gradient->elements; ++i) {
    uint64_t rest = i;
    int64_t offset = 0;
    for (uint32_t d = view->ndim; d-- > 0;) {
      offset += (int64_t)(rest % (uint64_t)view->shape[d]) * view->strides[d];
      rest /= (uint64_t)view->shape[d];
    }
    finite &= unscale_element(view, gradient->first + offset * (view->dtype_bits / 8), inv_scale);
  }
  notes.unscaled_elements += gradient->elements;
  return finite;
}

static const lra_tensor_view* nth(const lra_unscale_args* args, uint64_t i) {
  return (const lra_tensor_view*)(const void*)((const char*)args->gradients + i * args->gradients->struct_size);
}

static lra_status kept_scaler_unscale(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  lra_unscale_args own;
  checked_view found_inf, inv_scale, gradient;
  TRY(check_context(context, error));
  TRY(read_args(&own, args, sizeof own, error));
  TRY(check_device(context, own.device, error));
  TRY(reserved(own.stream, error));
  TRY(read_cell(&found_inf, own.found_inf, LRA_DTYPE_FLOAT, error));
  TRY(read_cell(&inv_scale, own.inv_scale, LRA_DTYPE_FLOAT, error));
  if (own.gradient_count != 0) {
    TRY(check_size(own.gradients, sizeof(lra_tensor_view), error));
    if (own.gradients->struct_size % 8 != 0) return failed(error, LRA_INVALID_ARGUMENT, "views of a size not of 8");
  }
  for (uint64_t i = 0; i < own.gradient_count; ++i) TRY(read_gradient(&gradient, nth(&own, i), error));
  float factor;
  memcpy(&factor, inv_scale.first, sizeof factor);
  const float one = 1;
  for (uint64_t i = 0; i < own.gradient_count; ++i) {
    TRY(read_gradient(&gradient, nth(&own, i), error));
    if (!unscale(&gradient, factor)) memcpy(found_inf.first, &one, sizeof one);
  }
  return LRA_OK;
}

static lra_status kept_scaler_update(lra_context* context, const lra_scaler_update_args* args, lra_error* error) {
  lra_scaler_update_args own;
  checked_view scale_view, tracker_view, found_view;
  TRY(check_context(context, error));
  TRY(read_args(&own, args, sizeof own, error));
  TRY(check_device(context, own.device, error));
  TRY(reserved(own.stream, error));
  TRY(reserved(own.reserved, error));
  TRY(read_cell(&scale_view, own.scale, LRA_DTYPE_FLOAT, error));
  TRY(read_cell(&tracker_view, own.growth_tracker, LRA_DTYPE_INT, error));
  TRY(read_cell(&found_view, own.found_inf, LRA_DTYPE_FLOAT, error));
  const int growth = own.growth_factor > 1 && own.growth_factor - own.growth_factor == 0;
  if (!growth || !(own.backoff_factor > 0 && own.backoff_factor < 1) || own.growth_interval == 0 ||
      own.growth_interval > 0x7fffffffu) {
    return failed(error, LRA_INVALID_ARGUMENT, "factors or interval out of range");
  }
  float scale, found, next;
  int32_t tracker;
  memcpy(&scale, scale_view.first, sizeof scale);
  memcpy(&tracker, tracker_view.first, sizeof tracker);
  memcpy(&found, found_view.first, sizeof found);
  if (found != 0) {
    scale = (float)(scale * own.backoff_factor);
    tracker = 0;
  } else if (++tracker >= (int32_t)own.growth_interval) {
    next = (float)(scale * own.growth_factor);
    if (is_finite(next)) scale = next;
    tracker = 0;
  }
  memcpy(scale_view.first, &scale, sizeof scale);
  memcpy(tracker_view.first, &tracker, sizeof tracker);
  return LRA_OK;
}

/* ---- settings, metrics, extensions ------------------------------------------------------------------------------- */

static lra_status kept_tf32_get(lra_context* context, lra_tf32* state, lra_error* error) {
  TRY(check_context(context, error));
  TRY(check_size(state, sizeof *state, error));
  *state = tf32;
  return LRA_OK;
}

static lra_status kept_tf32_set(lra_context* context, const lra_tf32* settings, lra_error* error) {
  lra_tf32 own;
  TRY(check_context(context, error));
  TRY(read_args(&own, settings, sizeof own, error));
  TRY(reserved(own.reserved, error));
  if (own.matmul > LRA_TF32_ON || own.convolution > LRA_TF32_ON) {
    return failed(error, LRA_INVALID_ARGUMENT, "a TF32 setting is 0, 1 or 2");
  }
  if (own.matmul != LRA_TF32_LEAVE) tf32.matmul = own.matmul;
  if (own.convolution != LRA_TF32_LEAVE) tf32.convolution = own.convolution;
  return LRA_OK;
}

static lra_status kept_memory_stats(lra_context* context, uint32_t device, lra_memory_stats* stats, lra_error* error) {
  TRY(check_device(context, device, error));
  TRY(check_size(stats, sizeof *stats, error));
  memset(stats, 0, sizeof *stats);
  stats->struct_size = sizeof *stats;
  stats->allocated = 1000 + device;
  stats->allocated_peak = 2000 + device;
  stats->cached = 3000 + device;
  stats->cached_peak = 4000 + device;
  stats->total = UINT64_C(1) << 30;
  stats->free = UINT64_C(1) << 29;
  return LRA_OK;
}

static lra_status kept_seed(lra_context* context, uint32_t device, uint64_t seed, lra_error* error) {
  TRY(check_device(context, device, error));
  notes.seed = seed;
  return LRA_OK;
}

static lra_status kept_get_extension(lra_context* context, const char* id, uint64_t id_size, const void** table,
                                     lra_error* error) {
  static const char known[] = "kept.notes/1";
  TRY(check_context(context, error));
  TRY(check_text(id, id_size, error));
  if (!table) return failed(error, LRA_INVALID_ARGUMENT, "table is null");
  if (id_size != sizeof known - 1 || memcmp(id, known, id_size) != 0) {
    return failed(error, LRA_UNSUPPORTED, "there is only kept.notes/1");
  }
  notes.open_scopes = open_scopes;
  *table = &notes;
  return LRA_OK;
}

/* ---- the handshake ----------------------------------------------------------------------------------------------- */

LRA_EXPORT lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error) {
  const uint32_t handshake = offsetof(lra_api, init);
  lra_host_info own;
  TRY(read_args(&own, host, sizeof own, error));
  TRY(reserved(own.reserved, error));
  TRY(check_text(own.torch_version, own.torch_version_size, error));
  TRY(check_text(own.cxx_abi, own.cxx_abi_size, error));
  TRY(check_text(own.host_version, own.host_version_size, error));
  TRY(check_size(api, handshake, error));
  TRY(check_majors(own.abi_major_min, own.abi_major_max, error));
  lra_api table = {
      .abi_major = 1,
      .abi_minor = 0,
      .abi_major_min = 1,
      .abi_major_max = 1,
      .plugin_id = "kept",
      .plugin_version = "1.0.0",
      .init = kept_init,
      .shutdown = kept_shutdown,
      .device_count = kept_device_count,
      .device_info = kept_device_info,
      .activate_device = kept_activate_device,
      .synchronize = kept_synchronize,
      .selftest = kept_selftest,
      .autocast_query = kept_autocast_query,
      .autocast_enter = kept_autocast_enter,
      .autocast_exit = kept_autocast_exit,
      .scaler_unscale = kept_scaler_unscale,
      .scaler_update = kept_scaler_update,
      .tf32_get = kept_tf32_get,
      .tf32_set = kept_tf32_set,
      .memory_stats = kept_memory_stats,
      .seed = kept_seed,
      .get_extension = kept_get_extension,
  };
  const uint32_t room = api->struct_size < sizeof table ? api->struct_size : (uint32_t)sizeof table;
  table.struct_size = handshake + (room - handshake) / (uint32_t)sizeof(void*) * (uint32_t)sizeof(void*);
  memcpy(api, &table, table.struct_size);
  return LRA_OK;
}
#endif
