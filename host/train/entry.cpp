// The one exported symbol of liblerobot_trainer.so.

#include <c10/util/Exception.h>

#include <csignal>
#include <new>

#include "host/app/trainer_entry.h"
#include "host/base/error.h"
#include "host/train/freed_memory.h"
#include "host/train/run.h"

extern "C" __attribute__((visibility("default"))) int lerobot_trainer_run(const lerobot::TrainerCall* call) {
  using lerobot::Error;
  using lerobot::ErrorKind;
  lerobot::train::keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows past a limit is an error of the write, not the end of the process
  try {
    return lerobot::train::run(*call->command, *call->accelerator, *call->rejected);
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kInternal, std::string("torch: ") + error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kMemory, "host memory ran out: lower --batch_size, --num_workers or --frame_cache_mb");
  }
}
