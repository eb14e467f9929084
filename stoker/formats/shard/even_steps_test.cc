#include "stoker/formats/shard/even_steps.h"

#include <vector>

#include "stoker/base/testing.h"

namespace stoker::even_steps_test {

TEST(EvenSteps, FindTheLastNumberThatIsNotAboveFromEveryGuess) {
  const std::vector<std::vector<int64_t>> lists{
      {0}, {0, 1}, {0, 10, 20, 30, 40}, {0, 1, 2, 100, 101, 1000}, {0, 500, 501, 502, 503, 504}};
  for (const std::vector<int64_t>& list : lists) {
    const auto count = std::ssize(list);
    for (int64_t value = 0; value <= list.back() + 2; ++value) {
      int64_t want = 0;
      while (want + 1 < count && list[static_cast<size_t>(want) + 1] <= value) ++want;
      for (int64_t guess = 0; guess < count; ++guess) {
        const auto at = [&](int64_t place) { return list.at(static_cast<size_t>(place)); };
        ASSERT_EQ(LastNotAbove(value, count, guess, at), want)
            << value << " among " << count << " numbers, guess " << guess;
      }
    }
  }
}

}  // namespace stoker::even_steps_test
