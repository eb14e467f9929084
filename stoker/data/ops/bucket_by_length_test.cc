#include "stoker/data/ops/bucket_by_length.h"

#include <functional>
#include <random>
#include <set>

#include "stoker/data/ops/enumerate.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/lengths.h"
#include "stoker/data/testing/promises.h"

namespace stoker::bucket_by_length_test {

using testing::ElementsAre;

BucketByLength ByTokens(std::vector<int64_t> boundaries, std::vector<int64_t> sizes) {
  return {.field = "tokens", .boundaries = std::move(boundaries), .sizes = std::move(sizes)};
}

// The labels (numbers in the input) of each batch, and what it is padded to.
std::vector<std::pair<std::vector<int64_t>, int64_t>> Grouped(const Result<Dataset>& dataset) {
  std::vector<std::pair<std::vector<int64_t>, int64_t>> groups;
  for (const Element& batch : *ReadAll(*dataset, Runtime::Threaded(2)))
    groups.emplace_back(Labels({batch}), batch.arrays[0].shape()[1]);
  return groups;
}
auto Group(std::vector<int64_t> labels, int64_t padded) { return std::pair{labels, padded}; }

std::vector<int64_t> RandomLengths(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < n; ++i) lengths.push_back(static_cast<int64_t>(random() % 12));
  return lengths;
}

TEST(BucketByLength, HandsOutABucketWhenItIsFullAndTheRestShortestFirst) {
  const std::vector<int64_t> lengths = {1, 5, 2, 9, 3, 4, 9, 1};
  for (const Dataset& source : {Sequences(lengths), SequenceStream(lengths)}) {
    EXPECT_THAT(
        Grouped(source | ByTokens({3, 6}, {2})),
        ElementsAre(Group({0, 2}, 2), Group({1, 5}, 5), Group({3, 6}, 9), Group({4, 7}, 3)));
    EXPECT_THAT(Grouped(source | ByTokens({3, 6}, {3, 4, 1})),
                ElementsAre(Group({3}, 9), Group({0, 2, 4}, 3), Group({6}, 9), Group({7}, 1),
                            Group({1, 5}, 5)));
    BucketByLength dropping = ByTokens({3, 6}, {3});
    dropping.drop_remainder = true;
    const Result<Dataset> dropped = source | dropping;
    EXPECT_THAT(Grouped(dropped), ElementsAre(Group({0, 2, 4}, 3)));
    EXPECT_EQ(dropped->spec().fields[1].shape, (Shape{3}));
  }
}

TEST(BucketByLength, ABoundaryBelongsToItsBucket) {
  EXPECT_THAT(Grouped(Sequences({4, 5}) | ByTokens({4}, {1})),
              ElementsAre(Group({0}, 4), Group({1}, 5)));
  EXPECT_THAT(Grouped(Sequences({4, 5, 3, 6}) | ByTokens({4}, {2})),
              ElementsAre(Group({0, 2}, 4), Group({1, 3}, 6)));
}

TEST(BucketByLength, KeepsWithinTheTokensWithThePaddingCounted) {
  BucketByLength by_tokens{.field = "tokens", .boundaries = {4}, .tokens = 12};
  EXPECT_THAT(Grouped(Sequences({3, 3, 4, 4, 9, 20, 1, 1}) | by_tokens),
              ElementsAre(Group({0, 1, 2}, 4), Group({4}, 9), Group({3, 6, 7}, 4), Group({5}, 20)));
  by_tokens.sizes = {2};
  EXPECT_THAT(Grouped(Sequences({1, 1, 1}) | by_tokens),
              ElementsAre(Group({0, 1}, 1), Group({2}, 1)));
}

TEST(BucketByLength, EveryElementComesOnceAndNoBatchIsLargerThanAllowed) {
  const std::vector<int64_t> lengths = RandomLengths(500, 1);
  std::multiset<int64_t> seen;
  for (const auto& [labels, padded] :
       Grouped(Sequences(lengths) |
               BucketByLength{.field = "tokens", .boundaries = {3, 7}, .tokens = 40})) {
    EXPECT_LE(std::ssize(labels) * padded, 40);
    seen.insert(labels.begin(), labels.end());
  }
  EXPECT_EQ(seen.size(), 500u);
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 500u);
}

TEST(BucketByLength, PadsToTheBoundary) {
  BucketByLength to_boundary = ByTokens({4}, {2});
  to_boundary.pad_to_boundary = true;
  to_boundary.padding = {-1};
  const Result<Dataset> dataset = Sequences({1, 3, 7}) | to_boundary;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(*dataset, Runtime::Inline()));
  EXPECT_THAT(batches[0].arrays[0].values<int64_t>(),
              ElementsAre(0, -1, -1, -1, 100, 101, 102, -1));
  EXPECT_EQ(batches[1].arrays[0].ToString(), "int64[1, 7]");
}

TEST(BucketByLength, AddsLengthsAndMask) {
  BucketByLength with_all = ByTokens({4}, {2});
  with_all.lengths = with_all.mask = true;
  const Result<Dataset> dataset = Sequences({1, 3}) | with_all;
  EXPECT_EQ(dataset->spec().ToString(),
            "{tokens: int64[?, ?], label: int64[?], tokens_length: int64[?], tokens_mask: bool[?, "
            "?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(*dataset, Runtime::Inline()));
  EXPECT_THAT(batches[0].arrays[2].values<int64_t>(), ElementsAre(1, 3));
  EXPECT_THAT(batches[0].arrays[3].values<bool>(), ElementsAre(1, 0, 0, 1, 1, 1));
}

TEST(BucketByLength, TakesTheLengthFromANumberOrAFunction) {
  BucketByLength by_label = ByTokens({1}, {2});
  by_label.field = "label";
  EXPECT_THAT(Grouped(Sequences({9, 9, 9, 9}) | by_label),
              ElementsAre(Group({0, 1}, 9), Group({2, 3}, 9)));
  const BucketByLength by_function{
      .boundaries = {0}, .sizes = {2}, .length = [](const Element& e) { return e.key.index % 2; }};
  EXPECT_THAT(Grouped(Sequences({1, 2, 3, 4}) | by_function),
              ElementsAre(Group({0, 2}, 3), Group({1, 3}, 4)));
}

TEST(BucketByLength, KeepsThePromisesOfAPipeline) {
  const std::vector<int64_t> lengths = RandomLengths(40, 2);
  const BucketByLength by_size = ByTokens({2, 5, 8}, {2, 3, 5, 4});
  const BucketByLength by_tokens{
      .field = "tokens", .boundaries = {3, 7}, .tokens = 25, .lengths = true};
  const Dataset filtered = *(Sequences(lengths) | Filter{.except = {3, 4, 11}});
  for (const Dataset& source : {Sequences(lengths), SequenceStream(lengths), filtered}) {
    for (BucketByLength bucket : {by_size, by_tokens}) {
      ExpectKeepsItsPromises(*(source | bucket));
      bucket.drop_remainder = true;
      ExpectKeepsItsPromises(*(source | bucket | Repeat{.count = 2} | Prefetch{}));
    }
  }
  ExpectKeepsItsPromises(*(Sequences(lengths) | Shuffle{} | by_size));
  // One element waits in its bucket to the end.
  std::vector<int64_t> one_long = RandomLengths(200, 6);
  one_long.insert(one_long.begin(), 50);
  ExpectKeepsItsPromises(*(SequenceStream(one_long) | ByTokens({20}, {7, 2})));
  // A source by position whose elements cannot be made from their keys.
  ExpectKeepsItsPromises(*(Sequences(lengths) | Enumerate{} | by_size));
  ExpectKeepsItsPromises(*(SequenceStream(RandomLengths(200, 3)) | ByTokens({3, 10}, {20, 30, 9})));
}

// 1,000 elements held, in any order.
TEST(BucketByLength, SavesNoElementsAndMakesAgainOnlyThoseThatWereHeld) {
  constexpr int64_t kElements = 20'000;
  std::atomic<int64_t> read = 0;
  const Map counting{.function = [&](Element&, Rng&, Scratch&) {
    ++read;
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Sequences(RandomLengths(kElements, 4)) |
                                                         counting | Shuffle{} |
                                                         ByTokens({3, 7}, {500}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset.Open(Runtime::Inline()));
  for (int i = 0; i < 20; ++i) STOKER_ASSERT_OK(saved->Next());
  const int64_t read_before = read;
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  const int64_t held = state["elements"]["held"];
  EXPECT_GT(held, 100);
  EXPECT_LT(std::ssize(state.dump()), 300 + 12 * held);
  read = 0;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(resumed->Restore(state));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto next, resumed->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, saved->Next());
  EXPECT_EQ(Fingerprint({*next}), Fingerprint({*expected}));
  EXPECT_LE(read, held + (read_before == 0 ? 0 : 1500));  // those held, and what the batch took
}

TEST(BucketByLength, CountsWhatItHoldsAgainstTheBudget) {
  const Dataset uncharged = FromGenerator({{{"tokens", DType::kUInt8, {-1}}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> {
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {1000})}};
    };
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, uncharged | ByTokens({2000}, {90}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(iterator->Next());
  // 90 elements, and the batch of them.
  EXPECT_GE(iterator->GetProfile().stages.back().peak_memory_bytes, 2 * 90 * 1000);
}

TEST(BucketByLength, RefusesDamagedPositions) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Sequences(RandomLengths(50, 5)) | ByTokens({3, 7}, {9}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(saved->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json good, saved->Save());
  const auto expect = [&](const std::function<void(Json&)>& damage, StatusCode code,
                          const char* says) {
    Json state = good;
    damage(state["elements"]);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
    EXPECT_THAT(iterator->Restore(state), FailsWith(code, says));
  };
  expect([](Json& state) { state.erase("numbers"); }, StatusCode::kDataLoss, "no 'numbers'");
  expect([](Json& state) { state.erase("keys"); }, StatusCode::kDataLoss, "no 'keys'");
  expect([](Json& state) { state["pulled"] = 1; }, StatusCode::kDataLoss, "it is damaged");
  expect([](Json& state) { state["held"] = 1; }, StatusCode::kDataLoss, "");
  expect([](Json& state) { state["input_pulled"] = 3; }, StatusCode::kDataLoss, "it is damaged");
  expect([](Json& state) { state.erase("input"); }, StatusCode::kDataLoss, "no part 'input'");
}

TEST(BucketByLength, RefusesWhatMakesNoSense) {
  const auto expect = [](const BucketByLength& options, const char* says) {
    EXPECT_THAT(Sequences({1, 2}) | options, FailsWith(StatusCode::kInvalidArgument, says));
  };
  expect({.field = "tokens"}, "there are no boundaries");
  expect({.boundaries = {3}}, "`field` is not set");
  expect({.field = "words", .boundaries = {3}}, "there is no field 'words'");
  expect(ByTokens({4, 4}, {1}), "boundaries are 4, 4; each must be larger");
  expect(ByTokens({4, 8}, {1, 2}), "sizes has 2 entries, but 2 boundaries make 3 buckets");
  expect(ByTokens({4}, {0}), "sizes");
  expect({.field = "tokens", .tokens = 9, .pad_to_boundary = true}, "needs boundaries");
  const Dataset floats = *FromArrays({{"x", Array::Of<float>({1, 2})}});
  EXPECT_THAT((floats | BucketByLength{.field = "x", .boundaries = {3}}),
              FailsWith(StatusCode::kInvalidArgument, "field 'x' is a float32 scalar"));
}

TEST(BucketByLength, SaysWhichElementTheLengthFunctionFailedOn) {
  const BucketByLength throws{.boundaries = {3}, .length = [](const Element& element) -> int64_t {
                                if (element.key.index == 1) throw std::runtime_error("broke");
                                return 1;
                              }};
  EXPECT_THAT(ReadAll(*(Sequences({1, 2}) | throws), Runtime::Threaded(2)),
              FailsWith(StatusCode::kInternal,
                        "bucket_by_length: element 1: the length function threw: broke"));
}

}  // namespace stoker::bucket_by_length_test
