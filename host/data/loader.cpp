#include "host/data/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "host/base/affinity.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/data/buffer_pool.h"
#include "host/data/sampler.h"
#include "host/data/transforms/sample_transforms.h"

namespace lerobot::data {
namespace {

/// Memory of batches that were used up, kept for those to come.
constexpr std::size_t kIdleBatchBytes = std::size_t{64} << 20;

/// A batch on its way. Workers take its slots one by one, so that a batch comes as soon as all can make it.
struct Pending {
  Batch batch;
  std::size_t taken = 0, done = 0;  ///< slots
  std::size_t failed_slot = 0;
  std::exception_ptr error;  ///< of the first slot that failed, in the batch's order

  std::size_t slots() const { return batch.rows.size(); }
  bool complete() const { return done == slots(); }
};

void check_options(const LoaderOptions& options) {
  const auto check = [](std::string_view name, std::int64_t value, std::int64_t least) {
    if (value < least) fail(ErrorKind::kConfig, "{} is {}, needed at least {}.", name, value, least);
  };
  check("batch_size", options.batch_size, 1);
  check("num_workers", options.num_workers, 0);
  check("prefetch_factor", options.prefetch_factor, 1);
  check("start.epoch", options.start.epoch, 0);
  check("start.sample", options.start.sample, 0);
}

/// Reads an item into its slot of the batch; whatever goes wrong becomes an Error that names the sample.
void load_sample(const Dataset& dataset, const std::optional<SampleTransforms>& transforms, std::size_t slot,
                 Batch& batch) {
  const std::int64_t row = batch.rows[slot];
  try {
    dataset.read(row, batch.tensors, slot);
    if (transforms) transforms->apply(batch.tensors, slot, batch.epoch, row);
    batch.tasks[slot] = dataset.task(row);
  } catch (const Error& error) {
    throw Error(error.kind(), format("sample {}: {}", dataset.row_name(row), error.what()));
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::kMemory, "sample {}: the memory does not suffice. Lower --num_workers or the cache's size.",
         dataset.row_name(row));
  } catch (const std::exception& error) {
    fail(ErrorKind::kInternal, "sample {}: {}", dataset.row_name(row), error.what());
  }
}

Buffer stack(const std::vector<Item>& items, std::size_t tensor) {
  const auto& [key, first] = items.front().tensors.begin()[static_cast<std::ptrdiff_t>(tensor)];
  std::vector<std::int64_t> shape = first.shape;
  shape.insert(shape.begin(), static_cast<std::int64_t>(items.size()));
  Buffer result = make_buffer(first.dtype, std::move(shape));
  std::byte* out = result.data.get();
  for (const Item& item : items) {
    const Buffer& part = item.tensors.begin()[static_cast<std::ptrdiff_t>(tensor)].second;
    if (part.shape != first.shape || part.dtype != first.dtype) {
      fail(ErrorKind::kData, "{} has shape {} in one sample and {} in another of the same batch.", key,
           shape_text(first.shape), shape_text(part.shape));
    }
    std::memcpy(out, part.data.get(), part.bytes());
    out += part.bytes();
  }
  return result;
}

}  // namespace

Batch collate(const std::vector<Item>& items) {
  Batch batch;
  for (std::size_t i = 0; i < items.front().tensors.size(); ++i) {
    batch.tensors.append(items.front().tensors.begin()[static_cast<std::ptrdiff_t>(i)].first, stack(items, i));
  }
  for (const Item& item : items) batch.tasks.push_back(*item.strings.find("task"));
  return batch;
}

LoaderStart position_after(std::int64_t step, std::int64_t num_samples, std::int64_t batch_size, std::int64_t world) {
  const std::int64_t batches = (num_samples + batch_size - 1) / batch_size;
  const std::int64_t rounds = (batches + world - 1) / world;
  return {.epoch = step / rounds, .sample = std::min(step % rounds * batch_size * world, num_samples)};
}

class DataLoader::Impl {
 public:
  Impl(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
      : dataset_(std::move(dataset)), options_((check_options(options), std::move(options))), next_(options_.start) {
    if (options_.rows) {
      order_ = *options_.rows;
      order_epoch_ = next_.epoch;
    } else {
      sampler_.emplace(dataset_->episodes(), options_.seed, 0, options_.drop_n_last_frames);
    }
    if (options_.image_transforms) transforms_.emplace(options_.image_transforms, options_.seed, *dataset_);
    for (std::int64_t i = 0; i < options_.num_workers; ++i) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  std::int64_t batches_per_epoch() const { return (num_samples() + options_.batch_size - 1) / options_.batch_size; }
  std::int64_t num_samples() const { return sampler_ ? sampler_->size() : std::ssize(*options_.rows); }

  Batch next() {
    if (failure_) std::rethrow_exception(failure_);
    std::unique_ptr<Pending> pending = options_.num_workers == 0 ? make_here() : wait_for_front();
    if (!pending) return {};
    if (pending->error) {
      failure_ = pending->error;
      std::rethrow_exception(failure_);
    }
    return std::move(pending->batch);
  }

 private:
  /// Whether the single pass was planned to its end. Under the lock.
  bool is_over() const { return !sampler_ && next_.sample >= num_samples(); }

  /// The next batch of the order, with nothing loaded. Under the lock.
  std::unique_ptr<Pending> plan() {
    auto pending = std::make_unique<Pending>();
    if (next_.sample >= num_samples()) next_ = {.epoch = next_.epoch + 1, .sample = 0};
    if (order_epoch_ != next_.epoch) {
      order_ = sampler_->epoch_order(next_.epoch);
      order_epoch_ = next_.epoch;
    }
    const std::int64_t end = std::min(next_.sample + options_.batch_size, num_samples());
    pending->batch = empty_batch({order_.begin() + next_.sample, order_.begin() + end});
    pending->batch.epoch = next_.epoch;
    pending->batch.batch_in_epoch = (next_.sample + options_.batch_size - 1) / options_.batch_size;
    pending->batch.starts_epoch = pending->batch.batch_in_epoch == 0;
    next_.sample = end;
    return pending;
  }

  /// A batch whose tensors are yet to be written.
  Batch empty_batch(std::vector<std::int64_t> rows) {
    Batch batch;
    const std::size_t samples = rows.size();
    batch.rows = std::move(rows);
    for (const TensorSpec& spec : dataset_->layout()) {
      std::vector<std::int64_t> shape = {static_cast<std::int64_t>(samples)};
      shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
      batch.tensors.append(spec.key, memory_.take(spec.dtype, std::move(shape)));
    }
    batch.tasks.resize(samples);
    return batch;
  }

  /// Null after the end.
  std::unique_ptr<Pending> make_here() {
    if (is_over()) return nullptr;
    std::unique_ptr<Pending> pending = plan();
    try {
      for (std::size_t slot = 0; slot < pending->slots(); ++slot)
        load_sample(*dataset_, transforms_, slot, pending->batch);
    } catch (...) {
      pending->error = std::current_exception();
    }
    return pending;
  }

  /// Null after the end.
  std::unique_ptr<Pending> wait_for_front() {
    std::unique_lock lock(mutex_);
    const auto ready = [this] {
      return worker_failure_ || (window_.empty() ? is_over() : window_.front()->complete());
    };
    const std::chrono::duration<double> patience(options_.stall_warning_s);
    while (!batch_ready_.wait_for(lock, patience, ready)) warn_about_stall();
    if (worker_failure_) std::rethrow_exception(failure_ = worker_failure_);
    if (window_.empty()) return nullptr;
    std::unique_ptr<Pending> pending = std::move(window_.front());
    window_.pop_front();
    work_there_.notify_all();
    return pending;
  }

  /// Under the lock.
  void warn_about_stall() const {
    if (window_.empty()) {
      log::warn("waiting for {} s for the data loader's workers to start", options_.stall_warning_s);
      return;
    }
    const Pending& front = *window_.front();
    log::warn("waiting for {} s for batch {} of epoch {}: {} of {} samples are loaded; the workers are at {} or after",
              options_.stall_warning_s, front.batch.batch_in_epoch, front.batch.epoch, front.done, front.slots(),
              dataset_->row_name(front.batch.rows[std::min(front.done, front.slots() - 1)]));
  }

  /// A batch with a slot to take, or null. Under the lock.
  Pending* find_work() {
    for (const auto& pending : window_) {
      if (pending->taken < pending->slots()) return pending.get();
    }
    const auto limit = static_cast<std::size_t>(options_.num_workers * options_.prefetch_factor);
    if (window_.size() >= limit || is_over()) return nullptr;
    window_.push_back(plan());
    return window_.back().get();
  }

  void work(const std::stop_token& stop) {
    try {
      run_on_remembered_cores();  // The thread that made this one may be bound to a core by torch's OpenMP.
      if (options_.on_thread_start) options_.on_thread_start();
      std::unique_lock lock(mutex_);
      Pending* pending = nullptr;
      while (work_there_.wait(lock, stop, [&] { return (pending = find_work()) != nullptr; }) &&
             !stop.stop_requested()) {
        load_slot(*pending, lock);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      worker_failure_ = std::current_exception();
      batch_ready_.notify_all();
    }
  }

  /// Takes the next slot of the batch and loads it, without the lock.
  void load_slot(Pending& pending, std::unique_lock<std::mutex>& lock) {
    const std::size_t slot = pending.taken++;
    lock.unlock();
    std::exception_ptr error;
    try {
      load_sample(*dataset_, transforms_, slot, pending.batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && (!pending.error || slot < pending.failed_slot)) {
      pending.error = error;
      pending.failed_slot = slot;
    }
    ++pending.done;
    if (pending.complete()) batch_ready_.notify_all();
  }

  const std::shared_ptr<const Dataset> dataset_;
  const LoaderOptions options_;
  std::optional<EpisodeAwareSampler> sampler_;  ///< none for a single pass
  std::optional<SampleTransforms> transforms_;
  std::exception_ptr failure_;          ///< what next() throws from now on
  BufferPool memory_{kIdleBatchBytes};  ///< the batches'

  std::mutex mutex_;  ///< guards all that follows
  std::condition_variable_any work_there_;
  std::condition_variable batch_ready_;
  LoaderStart next_;  ///< of the next batch to plan
  std::int64_t order_epoch_ = -1;
  std::vector<std::int64_t> order_;
  std::deque<std::unique_ptr<Pending>> window_;  ///< planned batches in order
  std::exception_ptr worker_failure_;
  std::vector<std::jthread> workers_;  ///< last: they stop before the rest goes
};

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(dataset), std::move(options))) {}
DataLoader::~DataLoader() = default;

Batch DataLoader::next() {
  return impl_->next();
}
std::int64_t DataLoader::batches_per_epoch() const {
  return impl_->batches_per_epoch();
}
std::int64_t DataLoader::num_samples() const {
  return impl_->num_samples();
}

}  // namespace lerobot::data
