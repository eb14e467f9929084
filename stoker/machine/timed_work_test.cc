#include "stoker/machine/timed_work.h"

#include <atomic>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"

namespace stoker::timed_work_test {

TEST(MeasureRate, CountsTheUnitsOfAllThreads) {
  std::atomic<int64_t> pieces{0};
  STOKER_ASSERT_OK_AND_ASSIGN(const WorkRate rate,
                              MeasureRate(0.01, 3, [&](int) -> Result<WorkPiece> {
                                return WorkPiece([&]() -> Result<int64_t> {
                                  ++pieces;
                                  return 10;
                                });
                              }));
  EXPECT_EQ(rate.units, 10 * pieces);
  EXPECT_GE(rate.units, 3 * 10);
  EXPECT_GT(rate.per_second, 0);
}

TEST(MeasureRate, DoesOnePieceOnEachThreadHoweverLittleTimeThereIs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const WorkRate rate, MeasureRate(0, 2, [](int) -> Result<WorkPiece> {
                                return WorkPiece([]() -> Result<int64_t> { return 1; });
                              }));
  EXPECT_EQ(rate.units, 2);
}

TEST(MeasureRate, EndsWhereThereIsNoMoreToDo) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const WorkRate rate, MeasureRate(1e9, 1, [](int) -> Result<WorkPiece> {
        return WorkPiece(
            [left = 5]() mutable -> Result<int64_t> { return left == 0 ? 0 : left--; });
      }));
  EXPECT_EQ(rate.units, 5 + 4 + 3 + 2 + 1);
}

TEST(MeasureRate, ReturnsTheErrorOfAnyThread) {
  EXPECT_THAT(MeasureRate(0.001, 2,
                          [](int worker) -> Result<WorkPiece> {
                            if (worker == 1) return DataLoss("no work");
                            return WorkPiece([]() -> Result<int64_t> { return 1; });
                          }),
              FailsWith(StatusCode::kDataLoss, "no work"));
}

TEST(MeasureRate, StopsWhenTheCallerIsAskedTo) {
  const StopScope scope([] { return true; });
  EXPECT_THAT(MeasureRate(1e9, 2,
                          [](int) -> Result<WorkPiece> {
                            return WorkPiece([]() -> Result<int64_t> { return 1; });
                          }),
              FailsWith(StatusCode::kCancelled, "stopped"));
}

}  // namespace stoker::timed_work_test
