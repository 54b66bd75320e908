#pragma once

namespace lerobot {

/// Notes the cores that the calling thread may run on, as those of the whole process. To be called at the start of
/// main: a library that binds its threads (OpenMP, when torch is loaded) binds the one that loads it too, and each new
/// thread inherits the cores of the one that makes it.
void remember_cores();

/// Lets the calling thread run on all cores noted by remember_cores(). Without one, or on a system without affinities,
/// nothing changes.
void run_on_remembered_cores();

}  // namespace lerobot
