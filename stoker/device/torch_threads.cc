#include "stoker/device/torch_threads.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <atomic>

#include "stoker/base/worker_group.h"

namespace stoker {

namespace {

Status CheckThreads(int threads) {
  static std::atomic<int> given{1};  // that many could be started once
  if (threads <= given) return OkStatus();
  // Those of OpenMP and those of torch's own pool, beside the thread that asks.
  const auto started = WorkerGroup::Start(2 * (threads - 1), "torch", [](int /*worker*/) {});
  if (!started.ok()) {
    return ResourceExhausted(
        "torch is to compute with {} threads, and starts up to two for each, not all of which the "
        "system gives: {}; train.threads says how many",
        threads, started.status().message());
  }
  given = threads;
  return OkStatus();
}

}  // namespace

Status SetTorchThreads(int threads) {
  STOKER_RETURN_IF_ERROR(CheckThreads(threads));
  at::set_num_threads(threads);
  return OkStatus();
}

Status CheckTorchThreads() { return CheckThreads(at::get_num_threads()); }

// TensorIterator::for_each is at::parallel_for compiled within libtorch. It walks over a tensor of
// n bytes, none of which is read or written: where a range of them lies says which range it is.
void ForRangesOnTorchThreads(int64_t n,
                             const std::function<void(int64_t begin, int64_t end)>& work) {
  if (n <= 0) return;
  const at::TensorBase bytes = at::detail::empty_cpu({n}, at::TensorOptions(at::kByte));
  const char* const first = static_cast<const char*>(bytes.const_data_ptr());
  at::TensorIterator iterator = at::TensorIteratorConfig().add_borrowed_const_input(bytes).build();
  iterator.for_each(
      [&](char** data, const int64_t* /*strides*/, int64_t size, int64_t rows) {
        const int64_t begin = data[0] - first;
        work(begin, begin + size * rows);
      },
      /*grain_size=*/1);
}

// Hands out enough ranges that no thread is left without one.
void OnEachTorchThread(const std::function<void()>& work) {
  constexpr int64_t kRangesAThread = 1024;
  ForRangesOnTorchThreads(kRangesAThread * at::get_num_threads(),
                          [&](int64_t, int64_t) { work(); });
}

}  // namespace stoker
