#include "host/checkpoint/background_save.h"

#include <chrono>
#include <utility>

#include "host/base/error.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {
namespace {

/// Whether some of the tensors still are the owner's.
bool bring_to_host(Tensors& tensors) {
  bool shared = false;
  for (auto& [name, tensor] : tensors) {
    at::Tensor here = on_host(tensor);
    shared = shared || here.is_alias_of(tensor);
    tensor = std::move(here);
  }
  return shared;
}

/// Whether training still changes some of them.
bool bring_to_host(Checkpoint& checkpoint) {
  bool shared = bring_to_host(checkpoint.model);
  shared = bring_to_host(checkpoint.optimizer) || shared;
  if (checkpoint.ema) shared = bring_to_host(checkpoint.ema->shadow) || shared;
  for (ProcessorFile& processor : checkpoint.processors) {
    for (auto& [file, state] : processor.states) bring_to_host(state);
  }
  bring_to_host(checkpoint.rng);
  return shared;
}

/// Takes the checkpoint and the promise over, so that they go when the save ends: a promise that was not kept says that
/// nothing will be read any more.
void save(CheckpointWriter& writer, Checkpoint checkpoint, std::promise<void> read) {
  writer.save(checkpoint, [&] { read.set_value(); });
}

}  // namespace

void BackgroundSave::begin(Checkpoint checkpoint) {
  if (in_flight()) fail(ErrorKind::kInternal, "a save begins while another is in flight");
  std::promise<void> read;
  std::future<void> read_end = read.get_future();
  try {
    const bool shared = bring_to_host(checkpoint);
    end_ = std::async(std::launch::async, save, std::ref(writer_), std::move(checkpoint), std::move(read));
    read_ = shared ? std::move(read_end) : std::future<void>();
  } catch (const std::exception& error) {  // no memory for the copies, no thread
    fail(ErrorKind::kIo, "the checkpoint was not saved (earlier ones are untouched): {}", error.what());
  }
}

void BackgroundSave::wait_until_read() const {
  if (read_.valid()) read_.wait();
}

bool BackgroundSave::ended() const {
  return in_flight() && end_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace lerobot::checkpoint
