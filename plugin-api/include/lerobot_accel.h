/* lerobot_accel.h: the contract between the native LeRobot trainer (the host) and an accelerator plugin.
 *
 * One self-contained header for C99 and C++17. A plugin package is one directory with a manifest and two libraries
 * (docs/plugin-manifest.md). Each library exports exactly one symbol:
 *
 *   thin library   lra_probe     is there a usable device? Links neither the vendor nor torch; runs in a child process.
 *   full library   lra_get_api   handshake; fills the table of functions. Loaded once, in the chosen package only.
 *
 * Rules for everything below
 *   Types       Fixed-width integers, double, pointers and char arrays. Pointers have 8 bytes. No hidden padding.
 *   Sizes       Every struct starts with struct_size. The caller sets it to the sizeof it was compiled with.
 *               Argument structs (const): a callee that knows fewer bytes requires the bytes it does not know to be
 *               zero, else it answers LRA_UNSUPPORTED: a request is never dropped in silence. Bytes the caller does not
 *               have read as zero, which always means "as in the version before".
 *               Output structs: the caller zeroes them. The callee writes at most struct_size bytes and, on success,
 *               sets struct_size to the number of bytes it filled.
 *               Smaller than the struct's size in version 1.0 is LRA_INVALID_ARGUMENT, lra_api alone excepted (see
 *               there). In an array of structs, elements stand struct_size apart (of the first element, as the
 *               caller set it), a multiple of 8.
 *   Reserved    Reserved fields are zero; anything else is LRA_UNSUPPORTED.
 *   Strings     UTF-8. Into a callee: pointer and length, valid during the call, no terminator needed. Out of a callee:
 *               a char array inside the struct, always terminated by a zero byte, cut at a character boundary when too
 *               long. Nothing to free, nothing that dangles.
 *   Errors      Every function returns a status. With any status but LRA_OK nothing has changed, every output is
 *               untouched, and *error (may be NULL) holds the reason. With LRA_OK *error is untouched. No exception,
 *               signal, exit or abort crosses the boundary. A status that the caller does not know is a failure.
 *   Ownership   The caller owns every pointer it passes; the callee keeps none after it returns, the log callback
 *               excepted.
 *   Device work Functions act on the calling thread's current torch stream. "Enqueues" means: may launch device work
 *               and returns without waiting for it. "Waits" means: returns when the device has finished.
 *   Threads     [any] any thread, also at the same time. [one] one thread at a time. [self] any thread; acts on the
 *               calling thread's own state only.
 *
 * Versioning: major.minor of our own. 1.0 is frozen: what this header says of it, layout, constants and the meaning of
 * each function, stays true for every plugin and host of major 1. A minor version appends struct fields (at the end),
 * table entries (at the end) and constants; it takes away, moves and redefines nothing. A plugin built for 1.x is
 * loaded by every later host of major 1, and by hosts of major 2: a host supports two majors. plugin-api/abi/ holds the
 * layout of each version, plugin-api/CHANGELOG.md what each one added.
 */
#ifndef LEROBOT_ACCEL_H
#define LEROBOT_ACCEL_H

#include <stdint.h>
#ifdef __cplusplus
#include <cstdint> /* names the standard library, for LRA_CXX_ABI */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LRA_VERSION_MAJOR 1
#define LRA_VERSION_MINOR 0
#define LRA_VERSION_STRING "1.0"

#define LRA_PROBE_SYMBOL "lra_probe"
#define LRA_GET_API_SYMBOL "lra_get_api"

/* Gives the two entry points default visibility in a library that hides everything else. */
#if defined(_WIN32)
#define LRA_EXPORT __declspec(dllexport)
#else
#define LRA_EXPORT __attribute__((visibility("default")))
#endif

/* ---- status ------------------------------------------------------------------------------------------------------ */

typedef uint32_t lra_status;
#define LRA_OK 0u
#define LRA_INTERNAL 1u         /* anything without a better name; the message says what */
#define LRA_INVALID_ARGUMENT 2u /* a null pointer, a size, an index, a shape or a dtype that no version accepts */
#define LRA_UNSUPPORTED 3u      /* well-formed, but this plugin, device or version does not do it */
#define LRA_UNAVAILABLE 4u      /* the device, driver or a library it needs is not there */
#define LRA_INCOMPATIBLE 5u     /* handshake: no common major, another torch, C++ ABI or sanitizer */
#define LRA_WRONG_STATE 6u      /* before init, after shutdown, or a scope left in the wrong order */
#define LRA_OUT_OF_MEMORY 7u    /* device or host memory ran out; a smaller request may succeed */
#define LRA_DEVICE_FAILURE 8u   /* the device answered with an error (see vendor_code); it may stay unusable */

#define LRA_ERROR_MESSAGE_SIZE 1024
#define LRA_ERROR_HINT_SIZE 512

/* Why a call failed. Owned by the caller, written only when the status is not LRA_OK. */
typedef struct lra_error {
  uint32_t struct_size;
  uint32_t code;                        /* the status that the function returned */
  int64_t vendor_code;                  /* the vendor library's own error number, 0 when there is none */
  char message[LRA_ERROR_MESSAGE_SIZE]; /* one line: the thing, the value found, the value needed */
  char hint[LRA_ERROR_HINT_SIZE];       /* one line: what the user can do; may be empty */
} lra_error;

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* lra_device_info.capabilities. "Emulated" works, but is slower than float32 or converts to it inside. The bits of bf16
 * and fp16 say the same as autocast_query: none of them is set where the plugin has no autocast. */
#define LRA_CAP_HOST_PROCESSOR UINT64_C(0x1) /* this is the processor that runs the host, not an accelerator */
#define LRA_CAP_FLOAT64 UINT64_C(0x2)        /* without it no float64 tensor may be created on the device */
#define LRA_CAP_BF16_NATIVE UINT64_C(0x4)
#define LRA_CAP_BF16_EMULATED UINT64_C(0x8)
#define LRA_CAP_FP16_NATIVE UINT64_C(0x10)
#define LRA_CAP_FP16_EMULATED UINT64_C(0x20)
#define LRA_CAP_TF32 UINT64_C(0x40)           /* float32 matrix products can run on TF32 units: see tf32_set */
#define LRA_CAP_UNIFIED_MEMORY UINT64_C(0x80) /* device memory is the host's memory */

/* One device, as the probe sees it (driver's view) or as device_info gives it (torch's view). Empty: not known. */
typedef struct lra_device_info {
  uint32_t struct_size;
  uint32_t ordinal;      /* 0 .. device_count-1: how every function of the table names the device */
  int32_t torch_type;    /* c10::DeviceType of the tensors on it (rocm answers cuda's). The probe leaves it 0 */
  int32_t torch_index;   /* c10::Device index, -1 for a type without one. The probe leaves it 0 */
  uint64_t capabilities; /* LRA_CAP_ bits */
  uint64_t memory_total; /* bytes; 0 unknown */
  uint64_t memory_free;  /* bytes at the time of the call; 0 unknown */
  char torch_device[32]; /* what torch parses: "cpu", "cuda:1". The probe leaves it empty */
  char name[128];        /* what a person calls it: "NVIDIA H200" */
  char pci_address[32];  /* "0000:3b:00.0", lower case; tells that two plugins see the same card */
  char uuid[64];         /* the vendor's name for this one card, when it has one */
  char architecture[64]; /* as manifests write it in device_archs: "sm_90", "gfx942", "x86_64" */
} lra_device_info;

/* ---- probe: the thin library ------------------------------------------------------------------------------------- */

/* lra_probe_result.availability. 0 means that the plugin has not answered and is an error. */
#define LRA_PROBE_USABLE 1u
#define LRA_PROBE_UNAVAILABLE 2u

/* lra_probe_result.reason_code: the kind of an unavailability, for messages and scripts. */
#define LRA_REASON_NONE 0u
#define LRA_REASON_NO_DEVICE 1u             /* the driver answers and knows no device */
#define LRA_REASON_NO_DRIVER 2u             /* the vendor's driver library is not installed */
#define LRA_REASON_DRIVER_TOO_OLD 3u        /* the text names the version found and the one needed */
#define LRA_REASON_HIDDEN_BY_ENVIRONMENT 4u /* the text names the variable and its value */
#define LRA_REASON_LIBRARY_MISSING 5u       /* the text names the library */
#define LRA_REASON_ARCHITECTURE 6u          /* devices are there, none of an architecture in device_archs */
#define LRA_REASON_OTHER 7u                 /* the text says it all */
#define LRA_REASON_NOT_PERMITTED 8u         /* a device node is there, this user may not open it; the text names both */
#define LRA_REASON_TORCH 9u                 /* the torch found is not built for this hardware */

/* What the host knows when it probes. */
typedef struct lra_probe_args {
  uint32_t struct_size;
  uint32_t abi_major_min; /* the majors the host supports, both ends included */
  uint32_t abi_major_max;
  uint32_t reserved;
  const char* package_directory; /* absolute path of the package */
  uint64_t package_directory_size;
  const char* device_archs; /* the manifest's device_archs joined by ';', e.g. "sm_80;sm_90"; empty: no restriction */
  uint64_t device_archs_size;
  const char*
      torch_directory; /* absolute path of the libraries of the torch that the plugin would run on; empty: none */
  uint64_t torch_directory_size;
  const char* torch_version; /* of that torch, with its build tag where it is known: "2.11.0+cu130"; may be empty */
  uint64_t torch_version_size;
} lra_probe_args;

typedef struct lra_probe_result {
  uint32_t struct_size;
  uint32_t availability;    /* out: LRA_PROBE_ */
  uint32_t reason_code;     /* out: LRA_REASON_; LRA_REASON_NONE when usable */
  uint32_t device_capacity; /* in: elements of devices; the callee leaves it alone */
  lra_device_info* devices; /* in: caller's array, zeroed, each struct_size set; may be NULL with capacity 0 */
  uint32_t device_count;    /* out: devices found; when above device_capacity only the first ones are filled in */
  uint32_t reserved;
  char driver_version[64]; /* out: the vendor driver's version, empty when there is none */
  char reason[512];        /* out: why it is unavailable, or a remark when usable; one line */
  char hint[512];          /* out: what the user can do about it; one line */
} lra_probe_result;

/* Says whether this plugin could run here, and on which devices. Cheap (milliseconds): opens the vendor's driver at run
 * time, never torch, creates no context. "Unavailable" is a good answer (LRA_OK), not an error.
 * May crash or hang only at the price of its own child process: the host has a time limit.
 * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED (zero-tail rule); LRA_INCOMPATIBLE: no common major; LRA_INTERNAL:
 * the driver answered in a way that makes no sense.  [one]  Does not wait for a device. */
typedef lra_status (*lra_probe_fn)(const lra_probe_args* args, lra_probe_result* result, lra_error* error);
lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error);

/* ---- handshake: the full library --------------------------------------------------------------------------------- */

/* lra_host_info.sanitizers, lra_api.sanitizers: instrumentation compiled in. A plugin with a bit that the host lacks is
 * refused; the other way round is fine. */
#define LRA_SANITIZER_ADDRESS 0x1u
#define LRA_SANITIZER_THREAD 0x2u
#define LRA_SANITIZER_MEMORY 0x4u

/* The one that this translation unit is compiled with (compilers combine none of them), or 0. */
#if defined(__SANITIZE_ADDRESS__)
#define LRA_COMPILED_SANITIZERS LRA_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__)
#define LRA_COMPILED_SANITIZERS LRA_SANITIZER_THREAD
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LRA_COMPILED_SANITIZERS LRA_SANITIZER_ADDRESS
#elif __has_feature(thread_sanitizer)
#define LRA_COMPILED_SANITIZERS LRA_SANITIZER_THREAD
#elif __has_feature(memory_sanitizer)
#define LRA_COMPILED_SANITIZERS LRA_SANITIZER_MEMORY
#endif
#endif
#if !defined(LRA_COMPILED_SANITIZERS)
#define LRA_COMPILED_SANITIZERS ((uint32_t)0)
#endif

/* Who calls. */
typedef struct lra_host_info {
  uint32_t struct_size;
  uint32_t abi_major_min; /* the majors the host supports, both ends included */
  uint32_t abi_major_max;
  uint32_t abi_minor;  /* of abi_major_max */
  uint32_t sanitizers; /* LRA_SANITIZER_ bits of the host */
  uint32_t reserved;   /* 0 */
  /* The libtorch in this process, e.g. "2.11.0+cu130"; empty: none is loaded. The plugin refuses another major.minor
   * than it was built with; the patch number and the tag after it do not count. */
  const char* torch_version;
  uint64_t torch_version_size;
  const char* cxx_abi; /* the trainer's C++ ABI tag: see LRA_CXX_ABI; empty: no C++ is shared */
  uint64_t cxx_abi_size;
  const char* host_version; /* for logs only */
  uint64_t host_version_size;
} lra_host_info;

/* This translation unit's C++ ABI: the compiler's family and the standard library's string layout. Empty in C. */
#if defined(__cplusplus) && defined(_GLIBCXX_USE_CXX11_ABI)
#if _GLIBCXX_USE_CXX11_ABI
#define LRA_CXX_ABI "itanium-libstdc++-cxx11"
#else
#define LRA_CXX_ABI "itanium-libstdc++-old"
#endif
#elif defined(__cplusplus) && defined(_LIBCPP_VERSION)
#define LRA_CXX_ABI "itanium-libc++"
#elif defined(_MSC_VER)
#define LRA_CXX_ABI "msvc"
#else
#define LRA_CXX_ABI ""
#endif

/* ---- arguments and results of the table's functions -------------------------------------------------------------- */

/* lra_init_args.log: level. */
#define LRA_LOG_DEBUG 0u
#define LRA_LOG_INFO 1u
#define LRA_LOG_WARNING 2u
#define LRA_LOG_ERROR 3u

/* The host's log. Callable from any thread from the moment init is called until shutdown returns. Never throws. */
typedef void (*lra_log_fn)(void* log_context, uint32_t level, const char* message, uint64_t message_size);

typedef struct lra_init_args {
  uint32_t struct_size;
  uint32_t reserved;
  lra_log_fn log;    /* NULL: the plugin stays silent */
  void* log_context; /* handed back to log as it is */
} lra_init_args;

/* The plugin's own state, made by init and ended by shutdown; opaque to the host. */
typedef struct lra_context lra_context;

/* Element types, numbered as DLPack does. */
#define LRA_DTYPE_INT 0u
#define LRA_DTYPE_UINT 1u
#define LRA_DTYPE_FLOAT 2u
#define LRA_DTYPE_BFLOAT 4u
#define LRA_DTYPE_COMPLEX 5u
#define LRA_DTYPE_BOOL 6u

#define LRA_MAX_DIMS 8

/* A borrowed tensor: memory that stays the host's, valid until the function returns. (Work that the function enqueued
 * runs later; the host keeps the memory until the stream has passed it, as torch's allocator does.) Elements that a
 * function changes overlap neither each other nor another view of the call. */
typedef struct lra_tensor_view {
  uint32_t struct_size;
  int32_t torch_type; /* both exactly as device_info gave them */
  int32_t torch_index;
  uint8_t dtype_code;   /* LRA_DTYPE_ */
  uint8_t dtype_bits;   /* of one lane: 16, 32, ... */
  uint16_t dtype_lanes; /* 1 */
  uint32_t ndim;        /* 0 (a single cell) .. LRA_MAX_DIMS */
  uint32_t reserved;    /* 0 */
  void* base;           /* the allocation's handle: an address, or the buffer object where torch uses one (MPS). May be
                           NULL when there are no elements */
  uint64_t byte_offset; /* from base to the first element, a multiple of the element's size */
  int64_t shape[LRA_MAX_DIMS];   /* 0 or more each; entries past ndim are ignored */
  int64_t strides[LRA_MAX_DIMS]; /* in elements, not bytes; 0 or more each, entries past ndim are ignored */
} lra_tensor_view;

/* Compute types of an autocast scope. */
#define LRA_PRECISION_FLOAT32 0u /* autocast off inside the scope; every device supports it */
#define LRA_PRECISION_BF16 1u
#define LRA_PRECISION_FP16 2u

/* lra_autocast_support.support. What the host does with "emulated": on its own processor it trains in bf16 and warns;
 * on an accelerator it refuses bf16 and trains in fp16 with a warning (memory is saved, not time). In fp16 it never
 * trains on its own processor. */
#define LRA_SUPPORT_NONE 0u
#define LRA_SUPPORT_EMULATED 1u /* works, with no gain in speed */
#define LRA_SUPPORT_NATIVE 2u

typedef struct lra_autocast_support {
  uint32_t struct_size;
  uint32_t support; /* LRA_SUPPORT_ */
  char reason[256]; /* why not native; empty when native */
} lra_autocast_support;

typedef struct lra_autocast_args {
  uint32_t struct_size;
  uint32_t device;    /* ordinal */
  uint32_t precision; /* LRA_PRECISION_ */
  uint32_t reserved;  /* 0 */
} lra_autocast_args;

typedef struct lra_unscale_args {
  uint32_t struct_size;
  uint32_t device;                  /* ordinal; every view is on it */
  uint64_t stream;                  /* reserved, 0: the thread's current torch stream */
  const lra_tensor_view* gradients; /* float32, float16 or bfloat16, not necessarily one dtype; changed in place */
  uint64_t gradient_count;          /* 0 is allowed and does nothing */
  const lra_tensor_view* found_inf; /* one float32 element, 0 or above; see scaler_unscale */
  const lra_tensor_view* inv_scale; /* one float32 element, read only */
} lra_unscale_args;

typedef struct lra_scaler_update_args {
  uint32_t struct_size;
  uint32_t device;                       /* ordinal; every view is on it */
  uint64_t stream;                       /* reserved, 0 */
  const lra_tensor_view* scale;          /* one float32 element, finite and 0 or above, changed in place */
  const lra_tensor_view* growth_tracker; /* one int32 element, 0 .. growth_interval-1, changed in place: good steps
                                            since the last change */
  const lra_tensor_view* found_inf;      /* one float32 element, read only: not 0 means that the step overflowed */
  double growth_factor;                  /* finite, above 1 */
  double backoff_factor;                 /* above 0, below 1 */
  uint32_t growth_interval;              /* 1 .. 2^31-1: the tracker is an int32 */
  uint32_t reserved;                     /* 0 */
} lra_scaler_update_args;

typedef struct lra_synchronize_args {
  uint32_t struct_size;
  uint32_t device; /* ordinal */
  uint64_t stream; /* reserved, 0: all streams of the device */
} lra_synchronize_args;

/* lra_tf32.matmul, lra_tf32.convolution */
#define LRA_TF32_LEAVE 0u /* tf32_set only: do not touch this one */
#define LRA_TF32_OFF 1u
#define LRA_TF32_ON 2u

typedef struct lra_tf32 {
  uint32_t struct_size;
  uint32_t matmul;
  uint32_t convolution;
  uint32_t reserved;
} lra_tf32;

typedef struct lra_memory_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t allocated;      /* bytes in live tensors */
  uint64_t allocated_peak; /* highest since the process began */
  uint64_t cached;         /* bytes that torch's allocator holds, live tensors included */
  uint64_t cached_peak;
  uint64_t total; /* bytes on the device; 0 unknown */
  uint64_t free;  /* bytes that the device still gives out; 0 unknown */
} lra_memory_stats;

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Filled by lra_get_api. A null entry is a function that the plugin does not have; each optional one says what the host
 * does then. The fields before init are the handshake; they stay as they are in every major version.
 *
 * The table alone may be shorter than in version 1.0 (down to the handshake fields): entries that do not fit whole are
 * left out. */
typedef struct lra_api {
  uint32_t struct_size;   /* in: sizeof the host's table; out: bytes filled */
  uint32_t abi_major;     /* the major agreed on: the highest that both support. The entries below are that version's */
  uint32_t abi_minor;     /* the plugin's minor within it */
  uint32_t abi_major_min; /* the plugin's range */
  uint32_t abi_major_max;
  uint32_t sanitizers; /* LRA_SANITIZER_ bits of the plugin */
  char plugin_id[64];  /* equals the manifest's id */
  char plugin_version[32];
  char torch_version[32]; /* the plugin was built with; empty: it does not use torch */
  char cxx_abi[32];       /* the plugin's LRA_CXX_ABI; empty: no C++ is shared */

  /* Starts the plugin; at most one context exists at a time. May load vendor libraries, and registers backends and
   * hooks with torch; starts no work on a device. Required.
   * context: set to the plugin's state, valid until shutdown.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED; LRA_UNAVAILABLE: driver or library missing; LRA_WRONG_STATE: a
   * context exists already.  [one]  Does not wait for the device. */
  lra_status (*init)(const lra_init_args* args, lra_context** context, lra_error* error);

  /* Ends the context: frees what it holds and forgets the log callback. The library stays loaded. Required.
   * LRA_OK; LRA_INVALID_ARGUMENT: not the context of init; LRA_WRONG_STATE: an autocast scope is still open on some
   * thread (the context lives on).  [one], no other function running.  May wait for the device. */
  lra_status (*shutdown)(lra_context* context, lra_error* error);

  /* Number of devices that the functions below accept, fixed for the context's life. Required.
   * LRA_OK (count may be 0); LRA_INVALID_ARGUMENT; LRA_DEVICE_FAILURE.  [any]  Does not wait. */
  lra_status (*device_count)(lra_context* context, uint32_t* count, lra_error* error);

  /* Describes one device, with the torch device on which the trainer makes its tensors. Required.
   * LRA_OK; LRA_INVALID_ARGUMENT: no such ordinal; LRA_DEVICE_FAILURE.  [any]  Does not wait. */
  lra_status (*device_info)(lra_context* context, uint32_t device, lra_device_info* info, lra_error* error);

  /* Makes the device the calling thread's current one, for torch and for the vendor's library. Every thread that works
   * with the device calls it first. Required.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_OUT_OF_MEMORY; LRA_DEVICE_FAILURE.  [self]  Does not wait for work, but the first
   * call may create the device's context (seconds). */
  lra_status (*activate_device)(lra_context* context, uint32_t device, lra_error* error);

  /* Returns when all work enqueued on the device before the call is done. Required.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED: stream is not 0; LRA_DEVICE_FAILURE: earlier work failed.
   * [any]  Waits. */
  lra_status (*synchronize)(lra_context* context, const lra_synchronize_args* args, lra_error* error);

  /* Runs one small addition and one small matrix product through torch and compares the numbers: the build has code for
   * this device's architecture. Leaves no state behind. Required.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED: no code for this architecture, the message names it; LRA_INTERNAL:
   * wrong numbers; LRA_OUT_OF_MEMORY; LRA_DEVICE_FAILURE.  [any], device active on this thread.  Waits. */
  lra_status (*selftest)(lra_context* context, uint32_t device, lra_error* error);

  /* Says how well the device computes in a precision, as its capability bits do, with the reason when not natively.
   * The answer never depends on the calling thread and does not change. LRA_PRECISION_FLOAT32 is native everywhere.
   * Optional, the three autocast entries together: without them the host runs in float32 and refuses any other
   * precision.
   * LRA_OK (also for LRA_SUPPORT_NONE); LRA_INVALID_ARGUMENT: no such device or precision.  [any]  Does not wait. */
  lra_status (*autocast_query)(lra_context* context, uint32_t device, uint32_t precision, lra_autocast_support* support,
                               lra_error* error);

  /* Opens an autocast scope on the calling thread: torch operators run in the precision until autocast_exit. Scopes
   * nest, the inner one rules. Forward only: the host leaves the scope before backward. Each thread enters for itself.
   * One forward pass is one outermost scope, under gradient accumulation too: torch's cache of cast weights lives as
   * long as that scope, so each pass casts each weight once.
   * token: never 0; names the scope.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED: autocast_query says none, with its reason.  [self]  Does not
   * wait. */
  lra_status (*autocast_enter)(lra_context* context, const lra_autocast_args* args, uint64_t* token, lra_error* error);

  /* Closes the thread's innermost scope and brings back the state before it. Leaving the outermost scope also drops
   * torch's cache of cast weights, so that the next forward sees the updated ones.
   * LRA_OK; LRA_INVALID_ARGUMENT: token 0; LRA_WRONG_STATE: not this thread's innermost scope; it stays open.
   * [self]  Does not wait. */
  lra_status (*autocast_exit)(lra_context* context, uint64_t token, lra_error* error);

  /* Multiplies every element of every gradient by inv_scale in place, rounding to the gradient's type. When any element
   * is not finite before that, found_inf becomes 1; when all are, found_inf stays as it is, also when it was raised
   * before (by an earlier call, or by the host, which adds up the flags of several ranks in it). Values of a gradient
   * that was not finite mean nothing afterwards.
   * Both cells are the host's, on the device, and the function does not wait for their values, so that no step waits.
   * The host computes inv_scale there from the scale, as 1/scale in float64 rounded to float32 where the device has
   * LRA_CAP_FLOAT64, else in float32.
   * Optional: without it the host does the same tensor by tensor with plain operators, and says so once.
   * LRA_OK; LRA_INVALID_ARGUMENT: a view of wrong dtype, device or shape, before any gradient is changed;
   * LRA_UNSUPPORTED: stream is not 0; LRA_DEVICE_FAILURE: some gradients may be unscaled.  [any], device active.
   * Enqueues. */
  lra_status (*scaler_unscale)(lra_context* context, const lra_unscale_args* args, lra_error* error);

  /* PyTorch's rule. Overflow: scale *= backoff_factor, tracker = 0. Else tracker += 1, and when it reaches
   * growth_interval: scale *= growth_factor unless that is not finite, tracker = 0. Each product is rounded to float32
   * once; where the device has no LRA_CAP_FLOAT64 the factor may be rounded to float32 before. found_inf is only read;
   * the host clears it.
   * There is no lower bound here: a scale may fall to 0, where inv_scale is infinite. Hosts stop long before.
   * Optional: without it the host does the same arithmetic.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED: stream is not 0; LRA_DEVICE_FAILURE.  [any], device active.
   * Enqueues. */
  lra_status (*scaler_update)(lra_context* context, const lra_scaler_update_args* args, lra_error* error);

  /* Reads whether float32 matrix products and convolutions may use TF32: LRA_TF32_OFF or LRA_TF32_ON each.
   * Optional, both tf32 entries together: without them the device has no TF32; "off" and "leave" are then no-ops in the
   * host and "on" is refused.
   * LRA_OK; LRA_INVALID_ARGUMENT.  [one]  Does not wait. */
  lra_status (*tf32_get)(lra_context* context, lra_tf32* state, lra_error* error);

  /* Sets TF32 for the process, matmul and convolution apart; LRA_TF32_LEAVE keeps one as it is. torch's older and newer
   * view of the setting stay equal. Called after the selftest and before training; the host then reads it back with
   * tf32_get and logs what it finds. All or nothing.
   * LRA_OK; LRA_INVALID_ARGUMENT: another value; LRA_UNSUPPORTED: "on" where no device of the plugin has LRA_CAP_TF32,
   * or the two would differ where torch has one switch for both (alike is always possible).  [one]  Does not wait. */
  lra_status (*tf32_set)(lra_context* context, const lra_tf32* settings, lra_error* error);

  /* Memory in use, for metrics: the host logs allocated_peak with each line of the training log. Optional: without it
   * the host logs no device memory.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED: torch's allocator for this device keeps no statistics.
   * [any]  Does not wait. */
  lra_status (*memory_stats)(lra_context* context, uint32_t device, lra_memory_stats* stats, lra_error* error);

  /* Seeds torch's default generator of the device, as torch's manual_seed does: from here on the same seed gives the
   * same random numbers. Optional: without it the host seeds through torch itself.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_DEVICE_FAILURE.  [any], no random operator running on the device.  Does not
   * wait. */
  lra_status (*seed)(lra_context* context, uint32_t device, uint64_t seed, lra_error* error);

  /* Further tables by name, "owner.name/revision" (for example "lerobot.torch.c10d_backend/1"). table: set to a struct
   * that lives as long as the library; the extension's own header says its type. Optional: without it there are none.
   * LRA_OK; LRA_INVALID_ARGUMENT; LRA_UNSUPPORTED: not known.  [any]  Does not wait. */
  lra_status (*get_extension)(lra_context* context, const char* id, uint64_t id_size, const void** table,
                              lra_error* error);
} lra_api;

/* The handshake. Checks that host and plugin fit together and fills the table; starts nothing.
 * api: zeroed, struct_size set.
 * LRA_OK; LRA_INVALID_ARGUMENT: null, or a table shorter than the handshake fields; LRA_UNSUPPORTED: zero-tail rule;
 * LRA_INCOMPATIBLE: no common major, or another torch, C++ ABI or sanitizer; the message names both sides.
 * [one]  Does not wait for a device. */
typedef lra_status (*lra_get_api_fn)(const lra_host_info* host, lra_api* api, lra_error* error);
lra_status lra_get_api(const lra_host_info* host, lra_api* api, lra_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LEROBOT_ACCEL_H */
