// Runs Stoker's work on torch's own threads.
//
// at::parallel_for is a template: it is parallel only in files that are compiled for OpenMP, and
// such files would bring the compiler's OpenMP runtime into the process beside torch's. These
// functions enter through libtorch instead, so the process has the one runtime that torch has
// (docs/adr/0023-kernels-run-on-the-threads-of-torch.md).
#pragma once

#include <cstdint>
#include <functional>

#include "stoker/base/status.h"

namespace stoker {

// Makes torch compute with `threads` threads when the calling thread calls it, as
// at::set_num_threads does. Errors: kResourceExhausted if the system does not give that many: torch
// would wait for ever for those that are missing, or OpenMP's library would end the process.
// Thread-safe.
Status SetTorchThreads(int threads);

// Returns the same error for the number of threads that torch computes with now.
Status CheckTorchThreads();

// Calls work(begin, end) for ranges that together are 0 to n, each once, on as many threads as
// at::set_num_threads says; on the calling thread alone if that is 1, if n is 1, or if the caller
// itself is such work. The ranges depend on the number of threads, so the result of `work` must not
// depend on them. Costs some microseconds beside the work. An exception of `work` reaches the
// caller.
void ForRangesOnTorchThreads(int64_t n,
                             const std::function<void(int64_t begin, int64_t end)>& work);

// Calls work() once on each of the threads that ForRangesOnTorchThreads and torch's operators use
// when this thread calls them; one of them is this thread.
void OnEachTorchThread(const std::function<void()>& work);

}  // namespace stoker
