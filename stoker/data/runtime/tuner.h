// Tuner: how many threads a ReadAhead has, how far it reads ahead, and how many elements make a
// chunk, from what the work costs and from how long the consumer waits. It only computes: it has no
// thread, no clock and no lock.
//
//   chunk    so many elements that making them takes about kChunkNs: a hop between threads then
//            costs little beside them, and a slow element holds up few others. Fewer where their
//            bytes would be too many (MaxChunkBytes).
//   threads  twice as many while the consumer waits, all of them work, and more can help: up to the
//            CPUs where elements compute, beyond where they sleep. What did not help is taken back
//            and tried again later, ever more seldom. Threads that have nothing to do go.
//   depth    two chunks for each thread where they are not large, and some milliseconds of work
//            where that takes few bytes; where the consumer waits although threads idle, as many as
//            the others make while one is slow. Of chunks that all threads make together, one under
//            way and those that are ready: none is held up by another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/explanation.h"

namespace stoker {

// Elements of so many bytes, such as batches, are made one by one, each in the core's cache. Of
// those that are smaller a chunk is made column by column, so it has to fit there as a whole.
inline constexpr int64_t kLargeElementBytes = 32 << 10;
// The bytes of a chunk of elements of so many.
constexpr int64_t MaxChunkBytes(int64_t element_bytes) {
  return element_bytes < kLargeElementBytes ? 256 << 10 : 2 << 20;
}

struct TunerLimits {
  int threads = 0;                           // fixed; 0: tuned
  const char* why_threads = "as asked for";  // they are fixed
  int max_threads = 1;
  int cpus = 1;
  int64_t chunk = 0;  // fixed, in elements; 0: tuned
  int64_t max_chunk = 1;
  int64_t depth = 0;  // elements that the user wants kept ready; 0: tuned
};

// What happened since the last Step.
struct TunerInterval {
  double seconds = 0;
  double waited_s = 0;   // the consumer, for an element
  double worked_s = 0;   // the threads, summed
  double cpu_share = 1;  // of the time that threads work: what they compute; the rest they sleep
  // Delivered; of chunks that threads make together the rounds that were made, since such a chunk
  // may take longer than an interval.
  int64_t elements = 0;
};

class Tuner {
 public:
  explicit Tuner(const TunerLimits& limits);

  int threads() const { return threads_; }
  int64_t chunk() const { return chunk_; }
  // Chunks that are being made or ready, at most.
  int64_t depth() const;
  bool may_shrink() const { return limits_.threads == 0 && threads_ > 1; }

  // A chunk of so many elements (at least one) and bytes has been made in so much time.
  void AddChunk(int64_t elements, int64_t bytes, int64_t ns);
  // What it begins with, and why.
  std::vector<Decision> FirstDecisions() const;
  // Looks at how it went, and changes threads and depth. Gives what it changed, and the chunk's
  // size where that has changed much; without their stage and time.
  std::vector<Decision> Step(const TunerInterval& interval);
  // Threads share the work of each chunk (shared_loops.h).
  void ChunksAreMadeTogether() { together_ = true; }
  bool chunks_are_made_together() const { return together_; }
  // The system gives no more threads than these.
  Decision LimitThreads(int threads, const std::string& why);

 private:
  void StepThreads(const TunerInterval& interval, std::vector<Decision>& decisions);
  bool TakeBackWhatDidNotHelp(const TunerInterval& interval, std::vector<Decision>& decisions);
  void Grow(const TunerInterval& interval, std::vector<Decision>& decisions);
  void Shrink(const TunerInterval& interval, std::vector<Decision>& decisions);
  void StepDepth(const TunerInterval& interval, std::vector<Decision>& decisions);
  int MostUsefulThreads(double cpu_share) const;
  int64_t DepthFor(int threads) const;
  int ChunksUnderWay(int threads) const { return together_ ? 1 : threads; }
  int64_t SlackChunks() const;
  double ChunkBytes() const;
  int64_t LeastDepth(int threads) const;

  const TunerLimits limits_;
  int threads_;
  int most_threads_;
  int64_t chunk_ = 1;
  int64_t reported_chunk_ = 1, reported_depth_ = 1;
  int64_t extra_depth_ = 0;  // beyond two chunks for each thread
  bool together_ = false;

  // Of recent chunks.
  double elements_ = 0, bytes_ = 0, ns_ = 0;  // sums that forget
  double typical_chunk_ns_ = 0, slowest_chunk_ns_ = 0;
  int64_t chunks_ = 0;

  bool trying_ = false;  // threads_ was raised by the last step
  int threads_before_ = 0;
  double rate_before_ = 0;
  int steps_to_next_try_ = 0, steps_between_tries_;
  int surplus_steps_ = 0, calm_steps_ = 0;
};

}  // namespace stoker
