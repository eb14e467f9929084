// What is to be done where a batch did not fit into memory: how much was missing, and which batch
// would fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// What an allocator's message tells; bytes.
struct MemoryShortage {
  uint64_t wanted = 0;             // by the allocation that failed
  std::optional<uint64_t> free;    // on the device
  std::optional<uint64_t> in_use;  // by this process

  bool operator==(const MemoryShortage&) const = default;
};

// Reads the messages of torch's allocators: "CUDA out of memory. Tried to allocate 2.50 GiB. ... of
// which 1.20 GiB is free. ... this process has 70.10 GiB memory in use." and "you tried to allocate
// 1048576 bytes". Nothing where it is none of these.
std::optional<MemoryShortage> ParseShortage(std::string_view message);

// The most samples that fit, by what is known when `batch` did not: all but `fixed` bytes (weights,
// gradients, the optimizer's state) grow with the batch, and at least in_use + wanted were needed.
// So it is an upper bound, rounded down to a multiple of 8 where it is 8 or more; 0 where not even
// one fits. Nothing where the message does not tell what is free and in use.
std::optional<int64_t> BatchThatFits(const MemoryShortage& shortage, int64_t batch, uint64_t fixed);

// Bytes of the machine, or of what its control groups leave of it, and of them this process's own.
struct HostMemory {
  uint64_t limit = 0;
  uint64_t in_use = 0;
};

// As it is now. in_use: the resident pages (/proc/self/statm); 0 where the system does not tell.
HostMemory HostMemoryNow();

// The CPU's allocator does not tell what is free and in use: `host` does, where by it less was free
// than was wanted. Else it was something else that refused (ulimit -v, a fragmented heap), or what
// this batch took has been given back since: then nothing is filled in, and no batch can be told.
// What a control group refuses is no error at all: the kernel kills the process (exit code 137).
MemoryShortage CompleteOnHost(MemoryShortage shortage, const HostMemory& host);

// `failure` (kResourceExhausted) with that put behind it in words.
Status ExplainOutOfMemory(const Status& failure, int64_t batch, uint64_t fixed,
                          const HostMemory& host = HostMemoryNow());

}  // namespace stoker
