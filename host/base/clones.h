#pragma once

#include <cstddef>  // defines __GLIBC__ where that is the C library

// LEROBOT_CLONES before a function: compiled for AVX-512, for AVX2 and for the baseline, and the best that the
// processor has is taken when the library is loaded. Elsewhere (ARM, macOS) one version, vectorized for the target. The
// thread sanitizer is not ready when the dynamic linker chooses.

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
#define LEROBOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LEROBOT_CLONES
#endif

// What a cloned function calls has to become part of each clone.
#define LEROBOT_INLINE inline __attribute__((always_inline))

// Before a loop: what it writes in one turn is not read in another, though pointers leave that open.
#if defined(__clang__)
#define LEROBOT_INDEPENDENT_TURNS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LEROBOT_INDEPENDENT_TURNS _Pragma("GCC ivdep")
#else
#define LEROBOT_INDEPENDENT_TURNS
#endif
