// A saved position in which a number cannot be is refused, rather than counted on from: it would
// overflow, or elements would be missing without a word.
#include <limits>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/choose.h"
#include "stoker/data/ops/concatenate.h"
#include "stoker/data/ops/enumerate.h"
#include "stoker/data/ops/interleave.h"
#include "stoker/data/ops/mix.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shard.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/ops/window.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/testing/combining.h"

namespace stoker::damaged_positions_test {

constexpr int64_t kTooMany = int64_t{1} << 62;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Result<Dataset> Stream(const std::string& field = "x") { return StreamedNumbers(20, 0, field); }
Result<Dataset> TwoInTurn() {
  return Source(Interleave{
      .inputs = {*Stream(), *Stream(), *Stream()}, .cycle_length = 2, .block_length = 2});
}

// What a pass says that goes on from `state`.
Status GoesOn(const Dataset& dataset, const Json& state, const PassOptions& options = {}) {
  STOKER_ASSIGN_OR_RETURN(const auto iterator, dataset.Open(Runtime::Inline(), options));
  STOKER_RETURN_IF_ERROR(iterator->Restore(state));
  return iterator->Next().status();
}

Json SavedAfterThree(const Dataset& dataset, const PassOptions& options = {}) {
  const auto saved = *dataset.Open(Runtime::Inline(), options);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(saved->Next(), IsOk());
  return *saved->Save();
}

struct Damage {
  const char* where;
  int64_t value;
  const char* says;
};

TEST(DamagedPosition, OfEveryStageThatReadsInOrderIsRefused) {
  const std::pair<Result<Dataset>, std::vector<Damage>> kCases[] = {
      {Stream() | Take{.count = 5}, {{"/read", 6, "'read' 6, where 5 is the most"}}},
      {Stream() | Skip{.count = 2}, {{"/read", kTooMany, "skip"}, {"/read", kMost, "'read'"}}},
      {Stream() | Shard{.count = 2}, {{"/read", kMost, "'read'"}}},
      {Stream() | Enumerate{.field = "number"}, {{"/passed", kMost, "'passed'"}}},
      {Stream() | Batch{.size = 2}, {{"/batches", kMost, "'batches'"}}},
      {Stream() | PaddedBatch{.size = 2}, {{"/batches", kMost, "'batches'"}}},
      {Stream() | BucketByLength{.field = "x", .boundaries = {9}, .sizes = {2}},
       {{"/batches", kMost, "'batches'"}}},
      {Stream() | Repeat{.count = 2}, {{"/round", 3, "'round' 3, where 2 is the most"}}},
      {Stream() | Repeat{}, {{"/round", kMost, "'round'"}}},
      {Source(Zip{.inputs = {*Stream(), *Stream("y")}}), {{"/done", kMost, "'done'"}}},
      {Source(Concatenate{.inputs = {*Stream(), *Stream()}}), {{"/number", 3, "input 3 of 2"}}},
      {Source(Mix{.inputs = {*Stream(), *Stream()}}),
       {{"/drawn", kMost, "'drawn'"}, {"/inputs/1/round", kMost, "'round'"}}},
      {Source(Choose{.inputs = {*Stream(), *Stream()}, .choices = Numbers(2)}),
       {{"/drawn", kMost, "'drawn'"}}},
      {Stream() | Window{.size = 4, .shift = 2},
       {{"/windows", kMost, "'windows'"},
        {"/windows", kTooMany, "'windows'"},
        {"/windows", 2, "it is damaged"},
        {"/windows", 4, "it is damaged"}}},
      {Stream() | Batch{.size = 4} | Unbatch{},
       {{"/made", kMost, "'made'"},
        {"/given", 4, "after 4 of the 4 pieces"},
        {"/given", kMost, "pieces"}}},
      {TwoInTurn(),
       {{"/turn", 2, "'turn' 2, where 1 is the most"},
        {"/in_block", 2, "'in_block' 2, where 1 is the most"},
        {"/next", kMost, "'next'"},
        {"/cycle/0/ordinal", 2, "input 2 in place 0"},
        {"/cycle/0/ordinal", 1, "has a place already"},
        {"/from/next", 1, "input 0 in place 0"},
        {"/from/next", 5, "back to 5"}}},
  };
  for (const auto& [dataset, damages] : kCases) {
    ASSERT_THAT(dataset, IsOk());
    const Json state = SavedAfterThree(*dataset);
    SCOPED_TRACE(testing::Message() << dataset->ToString() << state);
    EXPECT_THAT(GoesOn(*dataset, state), IsOk());
    for (const auto& [where, value, says] : damages) {
      Json damaged = state;
      ASSERT_TRUE(damaged.contains(Json::json_pointer(where))) << where;
      damaged[Json::json_pointer(where)] = value;
      EXPECT_THAT(GoesOn(*dataset, damaged), FailsWith(StatusCode::kDataLoss, says)) << where;
    }
  }
}

TEST(DamagedPosition, OfATurnInAnEmptyPlaceIsRefused) {
  Json state = SavedAfterThree(*TwoInTurn());
  ASSERT_EQ(state["turn"], 1) << state;
  ASSERT_EQ(state["in_block"], 1);
  state["cycle"][1] = nullptr;
  EXPECT_THAT(GoesOn(*TwoInTurn(), state),
              FailsWith(StatusCode::kDataLoss, "in the turn of place 1, which has no input"));
}

TEST(DamagedPosition, ThatRanksCannotCountOnFromIsRefused) {
  const Result<Dataset> dataset = Stream() | AddMillions() | Batch{.size = 2} | Prefetch{};
  Json state = SavedAfterThree(*dataset);
  const PassOptions ranks{.world = 2};
  EXPECT_THAT(GoesOn(*dataset, state, ranks), IsOk());
  for (const char* where : {"/read_again", "/input/batches", "/input/input/read_again"}) {
    ASSERT_TRUE(state.contains(Json::json_pointer(where))) << where << state;
    for (const int64_t count : {kTooMany - 1, kMost}) {
      Json damaged = state;
      damaged[Json::json_pointer(where)] = count;
      EXPECT_THAT(GoesOn(*dataset, damaged, ranks), FailsWith(StatusCode::kDataLoss, "ranks"))
          << where;
    }
  }
  // Each of them can be counted, their sum cannot.
  state["read_again"] = kTooMany / 2;
  state["input"]["batches"] = kTooMany / 2;
  EXPECT_THAT(GoesOn(*dataset, state, ranks),
              FailsWith(StatusCode::kDataLoss, "beyond what can be counted"));
}

}  // namespace stoker::damaged_positions_test
