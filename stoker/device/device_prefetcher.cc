#include "stoker/device/device_prefetcher.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/denormals.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/trace.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// How often a wait for a batch polls the caller's flag: a signal handler, which cannot notify, may
// have set it.
constexpr std::chrono::milliseconds kLookEvery{50};

}  // namespace

Result<std::unique_ptr<DevicePrefetcher>> DevicePrefetcher::Open(const Dataset& batches,
                                                                 Runtime runtime,
                                                                 const PassOptions& pass,
                                                                 const FeederOptions& options,
                                                                 int depth) {
  if (depth < 0 || depth > kMostBatchesAhead) {
    return InvalidArgument("{} batches ahead of the step; it must be 0 to {}", depth,
                           kMostBatchesAhead);
  }
  std::unique_ptr<DevicePrefetcher> prefetcher(
      new DevicePrefetcher(batches, runtime, options.device, depth));
  const StopScope scope([asked = runtime.stop] { return asked != nullptr && *asked; });
  // Without a prefetching thread, the caller can end the pass by destroying it.
  if (depth > 0) runtime.stop = &prefetcher->stop_;
  const DenormalScope kept(/*flushed=*/false);  // as in Feeder::NextElement
  STOKER_ASSIGN_OR_RETURN(auto elements, batches.Open(runtime, pass));
  prefetcher->elements_ = elements.get();
  STOKER_ASSIGN_OR_RETURN(prefetcher->feeder_,
                          Feeder::Create(std::move(elements), batches.spec(), options));
  return prefetcher;
}

DevicePrefetcher::DevicePrefetcher(const Dataset& batches, const Runtime& runtime,
                                   c10::Device device, int depth)
    : limits_(batches, runtime.threads > 0),
      device_(device),
      depth_(depth),
      asked_to_stop_(runtime.stop) {}

DevicePrefetcher::~DevicePrefetcher() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    stop_ = true;
  }
  changed_.NotifyAll();
}

double DevicePrefetcher::waited_seconds() const {
  return depth_ == 0 ? feeder_->waited_seconds() : static_cast<double>(waited_ns_) * 1e-9;
}

// With the first Next and not before, so that the position can be restored.
Status DevicePrefetcher::Start() {
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    if (device_.is_cpu()) return;
    const c10::impl::VirtualGuardImpl backend(device_.type());
    stream_ = backend.getStreamFromGlobalPool(device_, /*isHighPriority=*/false);
  }));
  STOKER_ASSIGN_OR_RETURN(thread_, WorkerGroup::Start(1, "to-device", [this](int) { Run(); }));
  started_ = true;
  return OkStatus();
}

void DevicePrefetcher::Run() {
  for (int64_t made = 0; WaitForRoom(); ++made) {
    if (made % kBatchesBetweenPositions == 0) TakePosition(made);
    Ready ready = Make();
    const bool last = ready.is_last();
    {
      const MutexLock lock(mutex_);
      ready_.push_back(std::move(ready));
    }
    changed_.NotifyAll();
    if (last) return;
  }
}

// Records the feeder's position after `made` batches. Drops all that are older than the one to
// save: the newest at or before the batches handed out, or handed out when it was marked.
void DevicePrefetcher::TakePosition(int64_t made) {
  Result<Json> state = feeder_->Save();
  const MutexLock lock(mutex_);
  positions_.push_back({.behind = made, .state = std::move(state)});
  const int64_t needed = marked_.value_or(given_);
  while (positions_.size() > 1 && positions_[1].behind <= needed) positions_.pop_front();
}

DevicePrefetcher::Ready DevicePrefetcher::Make() {
  Ready ready{.batch = std::optional<TensorBatch>(), .copied = {}};
  const Status status = CatchTorchErrors([&] {
    if (!stream_) {
      ready.batch = feeder_->Next();
      return;
    }
    const c10::StreamGuard guard(*stream_);
    ready.batch = feeder_->Next();
    ready.copied.emplace(device_.type());
    ready.copied->record(*stream_);
  });
  if (!status.ok()) ready.batch = status;
  return ready;
}

// False if the prefetcher is being destroyed.
bool DevicePrefetcher::WaitForRoom() {
  const TraceSpan span("batches", TraceKind::kBlocked);
  const MutexLock lock(mutex_);
  while (!ending_ && std::ssize(ready_) >= depth_) changed_.Wait(mutex_);
  return !ending_;
}

// Once its pass is asked to stop, the thread queues the error in place of a batch.
void DevicePrefetcher::WaitForBatch() {
  const auto is_there = [this]() STOKER_REQUIRES(mutex_) { return !ready_.empty(); };
  if (asked_to_stop_ == nullptr) return changed_.Wait(mutex_, is_there);
  while (!changed_.WaitFor(mutex_, kLookEvery, is_there)) {
    if (*asked_to_stop_) stop_ = true;
  }
}

DevicePrefetcher::Ready DevicePrefetcher::Take() {
  const Stopwatch watch;
  Ready ready = [this] {
    const MutexLock lock(mutex_);
    TraceCount("batches", TraceKind::kQueue, std::ssize(ready_));
    WaitForBatch();
    Ready first = std::move(ready_.front());
    ready_.pop_front();
    if (!first.is_last()) ++given_;
    return first;
  }();
  waited_ns_ += watch.ElapsedNs();
  changed_.NotifyAll();
  return ready;
}

// The memory was allocated for the copying stream: the allocator must know who else reads it.
void DevicePrefetcher::HandToCurrentStream(const Ready& ready) const {
  const c10::impl::VirtualGuardImpl backend(device_.type());
  const c10::Stream current = backend.getStream(device_);
  ready.copied->block(current);
  for (const at::Tensor& input : (*ready.batch)->input.Tensors()) input.record_stream(current);
  for (const at::Tensor& target : (*ready.batch)->target.Tensors()) target.record_stream(current);
}

Result<std::optional<TensorBatch>> DevicePrefetcher::Next() {
  if (last_) return last_->batch;
  if (depth_ == 0) return NextInline();
  if (!started_) STOKER_RETURN_IF_ERROR(Start());
  Ready ready = Take();
  if (ready.is_last()) {
    last_ = std::move(ready);
    return last_->batch;
  }
  if (ready.copied) {
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { HandToCurrentStream(ready); }));
  }
  return std::move(ready.batch);
}

// The batches given so far, if a position is due before the next one; else nothing.
std::optional<int64_t> DevicePrefetcher::PositionDueInline() const {
  const MutexLock lock(mutex_);
  if (!marked_ || given_ % kBatchesBetweenPositions != 0) return std::nullopt;
  return given_;
}

// Positions are taken for SaveMarked alone: without an error, the pass itself knows its position.
Result<std::optional<TensorBatch>> DevicePrefetcher::NextInline() {
  if (const std::optional<int64_t> due = PositionDueInline()) TakePosition(*due);
  Result<std::optional<TensorBatch>> batch = feeder_->Next();
  if (batch.ok() && *batch) {
    const MutexLock lock(mutex_);
    ++given_;
  } else {
    last_ = Ready{.batch = batch, .copied = {}};
  }
  return batch;
}

// The thread takes a position before it makes the first batch, so there is one.
Result<Json> DevicePrefetcher::PositionBehind(int64_t batches) const {
  const Position* newest = &positions_.front();
  for (const Position& position : positions_) {
    if (position.behind <= batches) newest = &position;
  }
  STOKER_ASSIGN_OR_RETURN(Json state, newest->state);
  SkipMore(batches - newest->behind, state);
  return state;
}

Result<Json> DevicePrefetcher::Save() const {
  if (!started_) return feeder_->Save();
  const MutexLock lock(mutex_);
  return PositionBehind(given_);
}

void DevicePrefetcher::Mark() {
  const MutexLock lock(mutex_);
  marked_ = given_;
}

Result<Json> DevicePrefetcher::SaveMarked() const {
  const MutexLock lock(mutex_);
  const bool has_failed = last_ && !last_->batch.ok();
  const bool pass_is_there = !started_ && marked_ == given_ && !has_failed;
  if (pass_is_there || positions_.empty()) return feeder_->Save();
  return PositionBehind(marked_.value_or(0));
}

}  // namespace stoker
