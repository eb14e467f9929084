#include "stoker/data/core/copy_runs.h"

#include <numeric>
#include <vector>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::copy_runs_test {

constexpr size_t kGuard = 64;  // the widest vector, so that an overrun is reported
constexpr auto kCanary = std::byte{0xa5};

const std::vector<std::byte>& Memory() {
  static const std::vector<std::byte> memory = [] {
    std::vector<std::byte> bytes(size_t{1} << 20);
    Rng rng(1, 2, 3, 4);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.NextU64());
    return bytes;
  }();
  return memory;
}

// `count` runs of so many bytes each, here and there.
std::vector<MemoryRun> RunsOf(size_t count, size_t bytes) {
  Rng rng(5, count, static_cast<int64_t>(bytes), 6);
  std::vector<MemoryRun> runs;
  for (size_t i = 0; i < count; ++i)
    runs.push_back({Memory().data() + rng.NextU64() % (Memory().size() - bytes), bytes});
  return runs;
}

// What the runs are, one after the other.
std::vector<std::byte> Plain(const std::vector<MemoryRun>& runs) {
  std::vector<std::byte> out;
  for (const MemoryRun& run : runs) out.insert(out.end(), run.from, run.from + run.bytes);
  return out;
}

void ExpectCopies(const std::vector<MemoryRun>& runs) {
  const std::vector<std::byte> plain = Plain(runs);
  for (const size_t shift : {0, 1, 17}) {
    std::vector<std::byte> out(shift + plain.size() + kGuard, kCanary), want = out;
    std::ranges::copy(plain, want.begin() + static_cast<std::ptrdiff_t>(shift));
    CopyRuns(runs, out.data() + shift);
    ASSERT_EQ(out, want) << "shifted by " << shift;
  }
}

class CopyRunsOn : public OnInstructionSet {};
STOKER_ON_EVERY_INSTRUCTION_SET(CopyRunsOn);

TEST_P(CopyRunsOn, GivesTheBytesOfTheRunsInTheirOrder) {
  for (const size_t count : {0, 1, 2, 5, 33, 100}) {
    for (const size_t bytes : {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 784, 4095, 4096, 4097}) {
      SCOPED_TRACE(testing::Message() << count << " runs of " << bytes << " bytes");
      ExpectCopies(RunsOf(count, bytes));
    }
  }
}

TEST(CopyRuns, TakesRunsOfDifferentLengths) {
  std::vector<MemoryRun> runs;
  for (const size_t bytes : {1568, 784, 8, 0, 5000, 64, 784, 63, 20'000, 784, 1, 784}) {
    for (const MemoryRun& run : RunsOf(3, bytes)) runs.push_back(run);
  }
  ExpectCopies(runs);
}

}  // namespace stoker::copy_runs_test
