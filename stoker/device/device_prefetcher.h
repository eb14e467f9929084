// DevicePrefetcher: copies batches to the device before a training step needs them.
//
// Its thread takes batches from the pipeline, stages them in pinned memory and copies them on its
// own stream, concurrently with the kernels of earlier steps, so the thread that launches kernels
// waits for neither the copies nor the pipeline. Next may return a batch before its copy is
// complete: the caller's stream waits for it, the caller does not.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

#include "stoker/base/mutex.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/device/feeder.h"

namespace stoker {

// More would only use memory of the device.
inline constexpr int kMostBatchesAhead = 64;

// One thread at a time.
class DevicePrefetcher {
 public:
  // Opens one pass over `batches`.
  //   runtime  once its `stop` is true, Next returns kCancelled instead of waiting; with a thread
  //            it still returns ready batches. Open checks it too
  //   depth    the most batches ready, 0 to kMostBatchesAhead, each in the device's memory. 0: no
  //            thread; Next makes the batch
  // Errors: those of Dataset::Open and Feeder::Create; kInvalidArgument for the depth.
  static Result<std::unique_ptr<DevicePrefetcher>> Open(const Dataset& batches, Runtime runtime,
                                                        const PassOptions& pass,
                                                        const FeederOptions& options, int depth);

  // Ends the thread, at the latest after the current element.
  ~DevicePrefetcher();
  DevicePrefetcher(const DevicePrefetcher&) = delete;
  DevicePrefetcher& operator=(const DevicePrefetcher&) = delete;

  // Returns the next batch, nothing at the end, or an error; the last two repeatedly. The current
  // stream of this thread may use the batch.
  Result<std::optional<TensorBatch>> Next();

  // Returns the position of the pass after the batches returned, without those that are ready. With
  // a thread, restoring it makes up to kBatchesBetweenPositions batches again. Errors: without a
  // thread, also those of a failed pass, which has no position.
  Result<Json> Save() const;
  // Call it at each place to which the caller may return, first before the first Next: SaveMarked
  // returns Save as of the last call, also after later batches and after an error.
  void Mark();
  Result<Json> SaveMarked() const;
  // Call it before the first Next.
  Status Restore(const Json& state) { return feeder_->Restore(state); }

  // Returns the total time that Next has waited.
  double waited_seconds() const;
  // Returns the limiting stage, from the counters so far.
  LimitingStage FindLimit() const { return limits_.Find(*elements_); }
  // Returns the counters of the pipeline's stages so far.
  Profile GetProfile() const { return elements_->GetProfile(); }

  // The pipeline's position is saved once in this many batches, because some positions are large.
  static constexpr int64_t kBatchesBetweenPositions = 16;

 private:
  // The next result: a batch and the event of its copy, the end, or an error.
  struct Ready {
    Result<std::optional<TensorBatch>> batch;
    std::optional<c10::Event> copied;  // nothing on the CPU

    bool is_last() const { return !batch.ok() || !batch->has_value(); }
  };
  struct Position {
    int64_t behind = 0;  // it is the position after so many batches of this pass
    Result<Json> state;
  };

  DevicePrefetcher(const Dataset& batches, const Runtime& runtime, c10::Device device, int depth);
  Status Start();
  void Run();
  void TakePosition(int64_t made);
  Result<Json> PositionBehind(int64_t batches) const STOKER_REQUIRES(mutex_);
  Ready Make();
  bool WaitForRoom();
  void WaitForBatch() STOKER_REQUIRES(mutex_);
  Ready Take();
  std::optional<int64_t> PositionDueInline() const;
  Result<std::optional<TensorBatch>> NextInline();
  void HandToCurrentStream(const Ready& ready) const;

  const LimitFinder limits_;
  const Iterator* elements_ = nullptr;  // of feeder_, for calls from any thread
  const c10::Device device_;
  const int depth_;
  std::optional<c10::Stream> stream_;             // for copies; nothing on the CPU
  const std::atomic<bool>* const asked_to_stop_;  // from outside; may be null
  std::atomic<bool> stop_{false};   // of the pass if there is a thread; outlives feeder_
  std::unique_ptr<Feeder> feeder_;  // the thread's own once it runs

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Ready> ready_ STOKER_GUARDED_BY(mutex_);
  std::deque<Position> positions_ STOKER_GUARDED_BY(mutex_);  // the first is of a returned batch
  int64_t given_ STOKER_GUARDED_BY(mutex_) = 0;
  std::optional<int64_t> marked_ STOKER_GUARDED_BY(mutex_);  // batches returned at that time
  bool ending_ STOKER_GUARDED_BY(mutex_) = false;            // it is being destroyed
  std::optional<Ready> last_;  // the end or the error, once it was given
  int64_t waited_ns_ = 0;
  bool started_ = false;
  WorkerGroup thread_;  // last: joined before the other members are destroyed
};

}  // namespace stoker
