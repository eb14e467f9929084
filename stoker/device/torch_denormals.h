// Whether denormals (base/denormals.h) are flushed on all of torch's threads.
//
// torch's operators run on the calling thread and on OpenMP workers that belong to it; torch's own
// at::set_flush_denormal reaches the calling thread only.
#pragma once

#include <cstdint>
#include <thread>
#include <unordered_map>

#include "stoker/base/mutex.h"

namespace stoker {

// Makes the calling thread, and the threads that torch's operators use when it calls them, flush
// denormals or keep them. Threads that start later (at::set_num_threads with a greater number) have
// the mode of the thread that starts them, which is this one. Costs some microseconds.
void FlushTorchDenormals(bool flushed);

// The destructor restores the mode that each of those threads had at construction; threads started
// meanwhile get the calling thread's. Construct and destroy it on the same thread.
class TorchFloatModes {
 public:
  TorchFloatModes();
  ~TorchFloatModes();
  TorchFloatModes(const TorchFloatModes&) = delete;
  TorchFloatModes& operator=(const TorchFloatModes&) = delete;

 private:
  const uint32_t callers_;
  Mutex mutex_;
  std::unordered_map<std::thread::id, uint32_t> before_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
