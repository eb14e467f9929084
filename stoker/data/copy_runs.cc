#include "stoker/data/copy_runs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace stoker {
namespace {

constexpr size_t kCacheLine = 64;
// About so many bytes are asked for ahead, in runs at least and at most so many.
constexpr size_t kAheadBytes = 8192;
constexpr size_t kLeastAhead = 4, kMostAhead = 32;
// Of a long run the processor finds the rest by itself.
constexpr size_t kMostOfARun = 4096;

// Inlined by force: GCC 12 takes a function that does nothing but prefetch for one without effect
// and leaves out calls of it.
[[gnu::always_inline]] inline void Prefetch(const MemoryRun& run) {
  const size_t bytes = std::min(run.bytes, kMostOfARun);
  for (size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(run.from + at);
  // One line more where it begins within a line.
  if (bytes > kCacheLine) __builtin_prefetch(run.from + bytes - 1);
}

}  // namespace

void CopyRuns(std::span<const MemoryRun> runs, std::byte* to) {
  if (runs.empty()) return;
  const size_t ahead =
      std::clamp(kAheadBytes / std::max<size_t>(1, runs.front().bytes), kLeastAhead, kMostAhead);
  for (const MemoryRun& run : runs.first(std::min(ahead, runs.size()))) Prefetch(run);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i + ahead < runs.size()) Prefetch(runs[i + ahead]);
    const auto& [from, bytes] = runs[i];
    if (bytes == sizeof(uint64_t)) {  // a label, mostly: not worth a call
      std::memcpy(to, from, sizeof(uint64_t));
    } else if (bytes > 0) {
      std::memcpy(to, from, bytes);
    }
    to += bytes;
  }
}

}  // namespace stoker
