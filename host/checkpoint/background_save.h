#pragma once

#include <future>

#include "host/checkpoint/writer.h"

namespace lerobot::checkpoint {

/// Writes a checkpoint while its owner goes on: one save at a time, on a thread that calls no operator of torch. Only
/// one thread uses an object of this class. Its destructor waits for the save in flight.
class BackgroundSave {
 public:
  /// The writer outlives this object.
  explicit BackgroundSave(CheckpointWriter& writer) : writer_(writer) {}

  /// Begins to write a checkpoint; none may be in flight. Its tensors on the CPU are not copied: they must not change
  /// until wait_until_read() returned. Those on a device are copied now. Throws Error(kIo) when that fails.
  void begin(Checkpoint checkpoint);

  /// Returns when the tensors may change: the system has their bytes, or the save failed.
  void wait_until_read() const;

  /// From begin() to finish().
  bool in_flight() const { return end_.valid(); }
  /// A save is in flight, and finish() need not wait for it.
  bool ended() const;
  /// Waits until the checkpoint is on the disk and `last` leads to it. Throws what CheckpointWriter::save() throws.
  void finish() { end_.get(); }

 private:
  CheckpointWriter& writer_;
  std::future<void> read_;
  std::future<void> end_;  ///< of std::async: its destructor waits
};

}  // namespace lerobot::checkpoint
