// DevicePrefetcher: batches that are on the device before a training step asks for them.
//
// A thread of its own takes them from the pipeline, stages them in pinned memory and copies them on
// a stream of its own, so that the copies run beside the kernels of the steps before, and neither
// the copies nor the pipeline are waited for by the thread that launches kernels. A batch is handed
// out with its copy under way: the caller's stream waits for it, the caller does not.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "stoker/base/worker_group.h"
#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/device/feeder.h"

namespace stoker {

// More would only hold memory of the device.
inline constexpr int kMostBatchesAhead = 64;

// One thread at a time.
class DevicePrefetcher {
 public:
  // Opens one pass over `batches`.
  //   runtime  once its `stop` is true, Next ends with kCancelled instead of waiting; where there
  //            is a thread, batches that are ready are still given. Open heeds it too
  //   depth    batches that are ready at most, 0 to kMostBatchesAhead, each in the device's memory.
  //            0: there is no thread, and a batch is made when it is asked for
  // Errors: those of Dataset::Open and Feeder::Create; kInvalidArgument for the depth.
  static Result<std::unique_ptr<DevicePrefetcher>> Open(const Dataset& batches, Runtime runtime,
                                                        const PassOptions& pass,
                                                        const FeederOptions& options, int depth);

  // Ends the thread: at the latest after the element under way.
  ~DevicePrefetcher();
  DevicePrefetcher(const DevicePrefetcher&) = delete;
  DevicePrefetcher& operator=(const DevicePrefetcher&) = delete;

  // The next batch, nothing at the end, or the error that came in its place; the last two again and
  // again. The current stream of this thread may use the batch.
  Result<std::optional<TensorBatch>> Next();

  // Where the pass stands behind the batches handed out; those that are ready do not count. Where
  // there is a thread, whoever restores it makes up to kBatchesBetweenPositions batches again.
  // Errors: where there is none, also that a pass which has failed stands nowhere.
  Result<Json> Save() const;
  // Call it where it may be necessary to go back to, first before the first Next: SaveMarked is
  // Save as of the last call, also after batches that came behind it and after an error.
  void Mark();
  Result<Json> SaveMarked() const;
  // Before the first Next.
  Status Restore(const Json& state) { return feeder_->Restore(state); }

  // Time that Next has waited, in all.
  double waited_seconds() const;
  // What holds the pipeline up, by what its stages have counted so far.
  LimitingStage FindLimit() const { return limits_.Find(*elements_); }

  // A position is taken from the pipeline every so many batches, since some are large.
  static constexpr int64_t kBatchesBetweenPositions = 16;

 private:
  // What comes next: a batch and when its copy is done, the end, or an error.
  struct Ready {
    Result<std::optional<TensorBatch>> batch;
    std::optional<c10::Event> copied;  // nothing on the CPU

    bool is_last() const { return !batch.ok() || !batch->has_value(); }
  };
  struct Position {
    int64_t behind = 0;  // so many batches of this pass
    Result<Json> state;
  };

  DevicePrefetcher(const Dataset& batches, const Runtime& runtime, c10::Device device, int depth);
  Status Start();
  void Run();
  void TakePosition(int64_t made);
  Result<Json> PositionBehind(int64_t batches) const;
  Ready Make();
  bool WaitForRoom();
  void WaitForBatch(std::unique_lock<std::mutex>& lock);
  Ready Take();
  Result<std::optional<TensorBatch>> NextInline();
  void HandToCurrentStream(const Ready& ready) const;

  const LimitFinder limits_;
  const Iterator* elements_ = nullptr;  // of feeder_, for what may be asked from any thread
  const c10::Device device_;
  const int depth_;
  std::optional<c10::Stream> stream_;             // for copies; nothing on the CPU
  const std::atomic<bool>* const asked_to_stop_;  // from outside; may be null
  std::atomic<bool> stop_{false};   // of the pass where there is a thread: outlives feeder_
  std::unique_ptr<Feeder> feeder_;  // the thread's own once it runs

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ready> ready_;         // guarded by mutex_
  std::deque<Position> positions_;  // guarded by mutex_; the first is of a batch handed out
  int64_t given_ = 0;               // guarded by mutex_
  std::optional<int64_t> marked_;   // guarded by mutex_; batches given when it was
  bool ending_ = false;             // guarded by mutex_; it is being destroyed
  std::optional<Ready> last_;       // the end or the error, once it was given
  int64_t waited_ns_ = 0;
  bool started_ = false;
  WorkerGroup thread_;  // last: joined before anything above goes
};

}  // namespace stoker
