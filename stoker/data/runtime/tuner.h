// Tuner: computes the number of threads of a ReadAhead, how far it reads ahead, and the size of its
// chunks, from the cost of the work and the consumer's waits. It has no thread, no clock and no
// lock.
//
//   chunk    as many elements as take about kChunkNs to make: passing them between threads then
//            costs little, and a slow element delays few others. Fewer if their bytes would exceed
//            MaxChunkBytes.
//   threads  doubled while the consumer waits, all of them work, and more can help: up to the
//            number of CPUs if elements compute, beyond it if they sleep. An increase that did not
//            help is reverted and tried again later, ever more rarely. Idle threads end.
//   depth    two chunks for each thread if they are not large, and some milliseconds of work if
//            that takes few bytes; if the consumer waits although threads idle, as many as the
//            others make while one is slow. For chunks that all threads make together, one in
//            progress and those that are ready, because none delays another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/explanation.h"

namespace stoker {

// Elements of this size and more, such as batches, are made one by one, each in the core's cache.
// Chunks of smaller ones are made column by column, so a whole chunk has to fit there.
inline constexpr int64_t kLargeElementBytes = 32 << 10;
// Returns the limit of a chunk's bytes for elements of `element_bytes`.
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
  int64_t depth = 0;  // elements to keep ready, by the user; 0: tuned
};

// What happened since the last Step.
struct TunerInterval {
  double seconds = 0;
  double waited_s = 0;  // the consumer, for an element
  double worked_s = 0;  // the threads, summed
  double cpu_share =
      1;  // share of the threads' working time that they compute; the rest they sleep
  // Delivered elements; for chunks that threads make together the rounds made, because such a chunk
  // may take longer than an interval.
  int64_t elements = 0;
};

class Tuner {
 public:
  explicit Tuner(const TunerLimits& limits);

  int threads() const { return threads_; }
  int64_t chunk() const { return chunk_; }
  // Returns the most chunks in progress or ready.
  int64_t depth() const;
  bool may_shrink() const { return limits_.threads == 0 && threads_ > 1; }

  // Records a chunk of `elements` (at least one) and `bytes` that took `ns`.
  void AddChunk(int64_t elements, int64_t bytes, int64_t ns);
  // Returns the initial choices, with reasons.
  std::vector<Decision> FirstDecisions() const;
  // Evaluates the interval and changes threads and depth. Returns the changes, also that of the
  // chunk's size if it is large; without stage and time.
  std::vector<Decision> Step(const TunerInterval& interval);
  // Says whether threads share the work of most chunks (shared_loops.h). Where that changes,
  // TunerInterval::elements counts something else: threads that were being tried are taken back,
  // and are in the decisions returned. The next Step is for an interval that begins now.
  std::vector<Decision> SetChunksAreMadeTogether(bool together);
  bool chunks_are_made_together() const { return together_; }
  // Limits the threads to what the system can create.
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

  // Sums over recent chunks.
  double elements_ = 0, bytes_ = 0, ns_ = 0;  // decaying
  double typical_chunk_ns_ = 0, slowest_chunk_ns_ = 0;
  int64_t chunks_ = 0;

  bool trying_ = false;  // threads_ was raised by the last step
  int threads_before_ = 0;
  double rate_before_ = 0;
  int steps_to_next_try_ = 0, steps_between_tries_;
  int surplus_steps_ = 0, calm_steps_ = 0;
};

}  // namespace stoker
