#include "stoker/data/runtime/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stoker {
namespace {

// A hop between threads costs some microseconds where one must be woken.
constexpr double kChunkNs = 600e3;
constexpr int64_t kChunkGrowth = 4;  // at most so many times the last: the first costs mislead
// A chunk's size is kept until this many times more, or less, is wanted: blocks of memory are
// recycled for arrays of equal size.
constexpr double kMuchMore = 1.3;
constexpr int64_t kMaxDepth = 512;
// A thread that has lost its CPU to another program gets it back some milliseconds later. This much
// work is kept ready if it takes few bytes.
constexpr double kSlackNs = 10e6;
constexpr double kMaxSlackBytes = 4 << 20;
// Finished chunks that wait take this many bytes at most, unless the consumer waits.
constexpr double kMaxReadyBytes = 64 << 20;

constexpr double kForget = 1.0 - 1.0 / 64;  // of sums, with every chunk
constexpr double kForgetSlowest = 1.0 - 1.0 / 512;
constexpr double kMedianStep = 1.05;  // how fast the typical cost follows

constexpr double kWaits = 0.02;   // from this share of the time on, the consumer waits
constexpr double kAllWork = 0.8;  // of the threads
constexpr double kHelped = 1.05;  // times as many elements in a second
constexpr double kReserve = 1.2;  // threads that stay, for each that works
constexpr int kSurplusSteps = 3;  // so often in a row before threads go
constexpr int kCalmSteps = 20;    // without any wait before depth goes
constexpr int kFirstPause = 8, kLongestPause = 512;  // steps until growing is tried again

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Tuner::Tuner(const TunerLimits& limits)
    : limits_(limits),
      threads_(limits.threads > 0 ? limits.threads : std::min(limits.cpus, limits.max_threads)),
      most_threads_(std::max(threads_, limits.max_threads)),
      steps_between_tries_(kFirstPause) {
  if (limits.chunk > 0) chunk_ = std::min(limits.chunk, limits.max_chunk);
  reported_chunk_ = chunk_;
  reported_depth_ = depth();
}

int64_t Tuner::depth() const { return DepthFor(threads_); }

int64_t Tuner::DepthFor(int threads) const {
  if (limits_.depth > 0) {
    return (limits_.depth + chunk_ - 1) / chunk_ + ChunksUnderWay(threads);  // and kept ready
  }
  return std::max(LeastDepth(threads) + extra_depth_, ChunksUnderWay(threads) + SlackChunks());
}

int64_t Tuner::LeastDepth(int threads) const {
  const int64_t wanted = 2 * static_cast<int64_t>(threads) + 1;
  if (chunks_ == 0) return wanted;
  const auto fitting = static_cast<int64_t>(kMaxReadyBytes / ChunkBytes());
  const int64_t under_way = ChunksUnderWay(threads);
  return std::clamp<int64_t>(under_way + fitting, std::max<int64_t>(under_way, 2), wanted);
}

int64_t Tuner::SlackChunks() const {
  if (chunks_ == 0) return 0;
  return std::llround(std::min({kSlackNs / typical_chunk_ns_, kMaxSlackBytes / ChunkBytes(),
                                static_cast<double>(kMaxDepth)}));
}

double Tuner::ChunkBytes() const {
  return std::max(1.0, bytes_ / elements_ * static_cast<double>(chunk_));
}

void Tuner::AddChunk(int64_t elements, int64_t bytes, int64_t ns) {
  const auto time = static_cast<double>(std::max<int64_t>(ns, 1));
  elements_ = elements_ * kForget + static_cast<double>(elements);
  bytes_ = bytes_ * kForget + static_cast<double>(bytes);
  ns_ = ns_ * kForget + time;
  // The first chunks of each thread also pay for cold caches and the first use of memory.
  if (++chunks_ <= 2 * threads_) {
    typical_chunk_ns_ = slowest_chunk_ns_ = time;
  } else {
    typical_chunk_ns_ *= time > typical_chunk_ns_ ? kMedianStep : 1 / kMedianStep;
    slowest_chunk_ns_ = std::max(time, slowest_chunk_ns_ * kForgetSlowest);
  }
  if (limits_.chunk > 0) return;
  const double by_time = kChunkNs * elements_ / ns_;
  const double element_bytes = std::max(1.0, bytes_) / elements_;
  const auto most_bytes = static_cast<double>(MaxChunkBytes(static_cast<int64_t>(element_bytes)));
  const double by_bytes = most_bytes / element_bytes;
  int64_t most = std::min(limits_.max_chunk, chunk_ * kChunkGrowth);
  if (limits_.depth > 0) most = std::min(most, limits_.depth);
  const auto wanted = std::clamp<int64_t>(std::llround(std::min(by_time, by_bytes)), 1, most);
  if (wanted > kMuchMore * chunk_ || kMuchMore * wanted < chunk_) chunk_ = wanted;
}

std::vector<Decision> Tuner::SetChunksAreMadeTogether(bool together) {
  if (std::exchange(together_, together) == together || !std::exchange(trying_, false)) return {};
  const int tried = std::exchange(threads_, threads_before_);
  return {{.what = "threads",
           .from = tried,
           .to = threads_,
           .why = together ? "threads share the work of each chunk now: tried again"
                           : "each chunk is one thread's work now: tried again"}};
}

std::vector<Decision> Tuner::FirstDecisions() const {
  return {
      {.what = "threads",
       .to = threads_,
       .why = limits_.threads > 0 ? limits_.why_threads : fmt::format("{} CPUs", limits_.cpus)},
      {.what = "depth",
       .to = reported_depth_,
       .why = limits_.depth > 0 ? fmt::format("{} elements kept ready, as asked for", limits_.depth)
                                : "two chunks for each thread"},
      {.what = "chunk",
       .to = reported_chunk_,
       .why = limits_.chunk > 0 ? "as asked for" : "until it is known what elements cost"}};
}

std::vector<Decision> Tuner::Step(const TunerInterval& interval) {
  std::vector<Decision> decisions;
  if (chunk_ >= 2 * reported_chunk_ || 2 * chunk_ <= reported_chunk_) {
    decisions.push_back({.what = "chunk",
                         .from = reported_chunk_,
                         .to = chunk_,
                         .why = fmt::format("an element costs {:.3g} us", ns_ / elements_ * 1e-3)});
    reported_chunk_ = chunk_;
  }
  if (together_ && reported_depth_ > depth()) {
    decisions.push_back({.what = "depth",
                         .from = reported_depth_,
                         .to = depth(),
                         .why = "all threads work on one chunk, so none is held up by another"});
    reported_depth_ = depth();
  }
  if (depth() == ChunksUnderWay(threads_) + SlackChunks() && depth() >= 2 * reported_depth_) {
    decisions.push_back(
        {.what = "depth",
         .from = reported_depth_,
         .to = depth(),
         .why = fmt::format("{:.3g} ms of work are kept ready where they fit", kSlackNs * 1e-6)});
    reported_depth_ = depth();
  }
  if (limits_.threads == 0) StepThreads(interval, decisions);
  if (limits_.depth == 0) StepDepth(interval, decisions);
  return decisions;
}

void Tuner::StepThreads(const TunerInterval& interval, std::vector<Decision>& decisions) {
  if (TakeBackWhatDidNotHelp(interval, decisions)) return;
  if (steps_to_next_try_ > 0) --steps_to_next_try_;
  const bool waits = Share(interval.waited_s, interval.seconds) > kWaits;
  if (!waits) return Shrink(interval, decisions);
  surplus_steps_ = 0;
  const bool all_work = Share(interval.worked_s, interval.seconds) > kAllWork * threads_;
  if (all_work && steps_to_next_try_ == 0) Grow(interval, decisions);
}

bool Tuner::TakeBackWhatDidNotHelp(const TunerInterval& interval,
                                   std::vector<Decision>& decisions) {
  if (!std::exchange(trying_, false)) return false;
  const double rate = Share(static_cast<double>(interval.elements), interval.seconds);
  const bool waits = Share(interval.waited_s, interval.seconds) > kWaits;
  if (!waits || rate >= kHelped * rate_before_) {
    steps_between_tries_ = kFirstPause;
    return false;
  }
  decisions.push_back({.what = "threads",
                       .from = threads_,
                       .to = threads_before_,
                       .why = fmt::format("{:.6g} elements/s with {}, {:.6g} with {}: no gain",
                                          rate, threads_, rate_before_, threads_before_)});
  threads_ = threads_before_;
  steps_to_next_try_ = steps_between_tries_;
  steps_between_tries_ = std::min(2 * steps_between_tries_, kLongestPause);
  return true;
}

int Tuner::MostUsefulThreads(double cpu_share) const {
  // Enough that the CPUs are busy even if by chance more than usual sleep at once: of n threads
  // that each compute with probability p, n p, less one standard deviation, are the CPUs.
  const double share = std::clamp(cpu_share, 1e-3, 1.0);
  const double busy_cpus = limits_.cpus + std::sqrt(limits_.cpus * (1 - share));
  return static_cast<int>(std::min<double>(most_threads_, busy_cpus / share + 0.3));
}

void Tuner::Grow(const TunerInterval& interval, std::vector<Decision>& decisions) {
  const int more = std::min(2 * threads_, MostUsefulThreads(interval.cpu_share));
  if (more <= threads_) return;
  decisions.push_back(
      {.what = "threads",
       .from = threads_,
       .to = more,
       .why = fmt::format("the consumer waited {:.0f}% of {:.2f} s, {:.1f} of {} threads worked, "
                          "and computed {:.0f}% of that time",
                          100 * Share(interval.waited_s, interval.seconds), interval.seconds,
                          Share(interval.worked_s, interval.seconds), threads_,
                          100 * interval.cpu_share)});
  trying_ = true;
  threads_before_ = threads_;
  rate_before_ = Share(static_cast<double>(interval.elements), interval.seconds);
  threads_ = more;
}

void Tuner::Shrink(const TunerInterval& interval, std::vector<Decision>& decisions) {
  const double working = Share(interval.worked_s, interval.seconds);
  const int needed = std::max(1, static_cast<int>(std::ceil(kReserve * working)));
  surplus_steps_ = needed < threads_ ? surplus_steps_ + 1 : 0;
  if (surplus_steps_ < kSurplusSteps) return;
  const int fewer = threads_ - (threads_ - needed + 1) / 2;
  decisions.push_back(
      {.what = "threads",
       .from = threads_,
       .to = fewer,
       .why = fmt::format("only {:.2f} worked, the consumer waited {:.0f}%", working,
                          100 * Share(interval.waited_s, interval.seconds))});
  threads_ = fewer;
}

void Tuner::StepDepth(const TunerInterval& interval, std::vector<Decision>& decisions) {
  const bool waits = Share(interval.waited_s, interval.seconds) > kWaits;
  calm_steps_ = waits ? 0 : calm_steps_ + 1;
  const int64_t before = depth();
  const double slowness = Share(slowest_chunk_ns_, typical_chunk_ns_);
  if (waits && !together_ && Share(interval.worked_s, interval.seconds) <= kAllWork * threads_) {
    // While one thread makes the slowest chunk, each other makes so many.
    const auto behind_slowest =
        static_cast<int64_t>(std::min<double>(kMaxDepth, slowness * (threads_ - 1)));
    extra_depth_ = std::clamp<int64_t>(behind_slowest, extra_depth_, kMaxDepth);
  } else if (calm_steps_ >= kCalmSteps) {
    calm_steps_ = 0;
    extra_depth_ /= 2;
  }
  if (depth() == before) return;
  reported_depth_ = depth();
  decisions.push_back(
      {.what = "depth",
       .from = before,
       .to = depth(),
       .why = fmt::format("the slowest chunk takes {:.3g} ms, a typical one {:.3g} ms, and the "
                          "consumer waited {:.0f}%",
                          slowest_chunk_ns_ * 1e-6, typical_chunk_ns_ * 1e-6,
                          100 * Share(interval.waited_s, interval.seconds))});
}

Decision Tuner::LimitThreads(int threads, const std::string& why) {
  Decision decision{.what = "threads", .from = threads_, .to = threads, .why = why};
  threads_ = most_threads_ = threads;
  trying_ = false;
  return decision;
}

}  // namespace stoker
