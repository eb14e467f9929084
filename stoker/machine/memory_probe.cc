#include "stoker/machine/memory_probe.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "stoker/machine/timed_work.h"

namespace stoker {
namespace {

constexpr int64_t kPiece = int64_t{4} << 20;

// The half of a thread's memory that is read or copied from, and the half that is written to.
class Halves {
 public:
  static Result<std::shared_ptr<Halves>> Make(int64_t bytes) {
    const size_t words = static_cast<size_t>(bytes) / 2 / sizeof(uint64_t);
    auto halves = std::make_shared<Halves>();
    halves->from_.reset(new (std::nothrow) uint64_t[words]);
    halves->to_.reset(new (std::nothrow) uint64_t[words]);
    if (!halves->from_ || !halves->to_)
      return ResourceExhausted("memory: {} bytes cannot be allocated", bytes);
    halves->words_ = words;
    // Not zeros: pages of zeros may all be one page.
    std::iota(halves->from_.get(), halves->from_.get() + words, uint64_t{1});
    std::memset(halves->to_.get(), 1, words * sizeof(uint64_t));
    return halves;
  }

  // The next piece, of at most kPiece bytes; begins again at the end.
  std::pair<size_t, size_t> Next() {
    const size_t begin = next_ < words_ ? next_ : 0;
    const size_t end = std::min(words_, begin + static_cast<size_t>(kPiece) / sizeof(uint64_t));
    next_ = end;
    return {begin, end};
  }

  uint64_t Read() {
    const auto [begin, end] = Next();
    // Several sums, so that no addition waits for the one before it.
    uint64_t sums[8] = {};
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
      for (size_t lane = 0; lane < 8; ++lane) sums[lane] += from_[i + lane];
    }
    for (; i < end; ++i) sums[0] += from_[i];
    // Read by nobody, but a store to a volatile is never left out.
    sink_ = std::accumulate(std::begin(sums), std::end(sums), uint64_t{0});
    return (end - begin) * sizeof(uint64_t);
  }
  uint64_t Write() {
    const auto [begin, end] = Next();
    std::memset(to_.get() + begin, static_cast<int>(begin & 0x7f),
                (end - begin) * sizeof(uint64_t));
    return (end - begin) * sizeof(uint64_t);
  }
  uint64_t Copy() {
    const auto [begin, end] = Next();
    std::memcpy(to_.get() + begin, from_.get() + begin, (end - begin) * sizeof(uint64_t));
    return (end - begin) * sizeof(uint64_t);
  }
  // A byte of what was written, so that no write is left out.
  ~Halves() {
    if (words_ > 0) sink_ = to_[words_ / 2];
  }

 private:
  std::unique_ptr<uint64_t[]> from_, to_;
  size_t words_ = 0;
  size_t next_ = 0;
  volatile uint64_t sink_ = 0;
};

Result<double> RateOf(const MemoryProbe& probe, uint64_t (Halves::*work)()) {
  const int64_t bytes = std::max<int64_t>(int64_t{1} << 20, probe.bytes / probe.threads);
  STOKER_ASSIGN_OR_RETURN(
      const WorkRate rate,
      MeasureRate(probe.seconds / 3, probe.threads, [&](int) -> Result<WorkPiece> {
        STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Halves> halves, Halves::Make(bytes));
        return WorkPiece([halves, work]() -> Result<int64_t> {
          return static_cast<int64_t>((*halves.*work)());
        });
      }));
  return rate.per_second;
}

}  // namespace

Result<MemoryRoofs> MeasureMemory(const MemoryProbe& probe) {
  MemoryRoofs roofs;
  STOKER_ASSIGN_OR_RETURN(roofs.read_bytes_per_s, RateOf(probe, &Halves::Read));
  STOKER_ASSIGN_OR_RETURN(roofs.write_bytes_per_s, RateOf(probe, &Halves::Write));
  STOKER_ASSIGN_OR_RETURN(roofs.copy_bytes_per_s, RateOf(probe, &Halves::Copy));
  return roofs;
}

}  // namespace stoker
