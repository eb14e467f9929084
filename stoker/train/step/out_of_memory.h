// Advice for a batch that did not fit into memory: how much was missing, and which batch would fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// The content of an allocator's message, in bytes.
struct MemoryShortage {
  uint64_t wanted = 0;             // by the allocation that failed
  std::optional<uint64_t> free;    // on the device
  std::optional<uint64_t> in_use;  // by this process

  bool operator==(const MemoryShortage&) const = default;
};

// Reads the messages of torch's allocators: "CUDA out of memory. Tried to allocate 2.50 GiB. ... of
// which 1.20 GiB is free. ... this process has 70.10 GiB memory in use." and "you tried to allocate
// 1048576 bytes". Nothing for other messages.
std::optional<MemoryShortage> ParseShortage(std::string_view message);

// Returns an upper bound of the samples that fit when `batch` did not: all bytes except `fixed`
// (weights, gradients, the optimizer's state) are proportional to the batch, and at least in_use +
// wanted were needed. Rounded down to a multiple of 8 if it is 8 or more; 0 if not even one fits.
// Nothing if the message does not give free and used memory.
std::optional<int64_t> BatchThatFits(const MemoryShortage& shortage, int64_t batch, uint64_t fixed);

// The memory of the machine, or the limit of its control groups, and the part that this process
// uses, in bytes.
struct HostMemory {
  uint64_t limit = 0;
  uint64_t in_use = 0;
};

// Returns the current values. in_use: the resident pages (/proc/self/statm); 0 if unknown.
HostMemory HostMemoryNow();

// Fills in free and used memory from `host`, which the CPU's allocator does not report, if `host`
// has less free than was wanted. Otherwise another limit applied (ulimit -v, a fragmented heap), or
// the batch's memory has been freed since: then nothing is filled in, and no batch can be
// suggested. A control group's limit is not reported as an error: the kernel kills the process
// (exit code 137).
MemoryShortage CompleteOnHost(MemoryShortage shortage, const HostMemory& host);

// Returns `failure` (kResourceExhausted) with this advice appended.
Status ExplainOutOfMemory(const Status& failure, int64_t batch, uint64_t fixed,
                          const HostMemory& host = HostMemoryNow());

}  // namespace stoker
