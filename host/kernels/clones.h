#pragma once

// LEROBOT_CLONES before a function: compiled for AVX-512, for AVX2 and for the baseline, and the best that the
// processor has is taken when the library is loaded. Elsewhere (ARM, macOS) one version, vectorized for the target. The
// loops are plain C++ and the room is compiled without contraction of products and sums, so every version gives the
// same bits.

#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define LEROBOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LEROBOT_CLONES
#endif

// What a cloned function calls has to become part of each clone.
#define LEROBOT_INLINE inline __attribute__((always_inline))
