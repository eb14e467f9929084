#include "stoker/data/ops/shuffle.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "stoker/data/nodes/held_input.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"
#include "stoker/data/testing/promises.h"

namespace stoker::shuffle_test {

std::vector<int64_t> LabelsOf(const Result<Dataset>& dataset, const PassOptions& pass = {}) {
  const Result<std::vector<Element>> elements = ReadAll(*dataset, Runtime::Threaded(2), pass);
  EXPECT_THAT(elements, IsOk());
  return elements.ok() ? Labels(*elements) : std::vector<int64_t>{};
}

std::vector<int64_t> UpTo(int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// A stream that knows its elements by key: those of an input that is read by position, every
// second one left out. Counts what it reads.
class EverySecondNode final : public DatasetNode {
 public:
  explicit EverySecondNode(const Dataset& input)
      : DatasetNode("every_second", input.spec(), Cardinality::Unknown(), {input}) {}
  bool rereadable() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> elements, context.OpenInput(input()));
    return std::make_unique<Stream>(context, *this, std::move(elements));
  }
  std::atomic<int64_t>& read() const { return read_; }

 protected:
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    ++read_;
    return input().node().ReadKey(key, context);
  }

 private:
  class Stream final : public Iterator {
   public:
    Stream(const OpenContext& context, const EverySecondNode& node, std::unique_ptr<Iterator> input)
        : Iterator(context, node), node_(node), input_(std::move(input)) {}

   private:
    Result<std::optional<Element>> DoNext() override {
      while (true) {
        STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
        if (!element) return element;
        ++node_.read();
        if (element->key.index % 2 == 0) return element;
      }
    }
    Result<Json> DoSave() const override {
      STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
      return Json{{"input", std::move(input)}};
    }
    Status DoRestore(const Json& state) override {
      STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
      return input_->Restore(input);
    }
    const EverySecondNode& node_;
    const std::unique_ptr<Iterator> input_;
  };

  mutable std::atomic<int64_t> read_ = 0;
};

Dataset EverySecond(const Result<Dataset>& input) {
  return Dataset(std::make_shared<EverySecondNode>(*input));
}
int64_t ReadOf(const Dataset& every_second) {
  return dynamic_cast<const EverySecondNode&>(every_second.node()).read();
}

// n small elements, readable only in order, made without reading others.
Dataset Counted(int64_t n, std::atomic<int64_t>* made = nullptr) {
  return FromGenerator({{{"x", DType::kInt64, {}}}}, [n, made](uint64_t) {
    return [n, made, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == n) return std::nullopt;
      if (made != nullptr) ++*made;
      return Element{.arrays = {Array::Of(std::vector<int64_t>{i++}).Reshaped({})}};
    };
  });
}

TEST(ShuffleByPosition, RefusesWhatMakesNoSense) {
  const auto numbered = [] { return Result<Dataset>(NumberedImages(5)); };
  EXPECT_THAT(numbered() | Repeat{} | Shuffle{},
              FailsWith(StatusCode::kInvalidArgument, "put repeat after shuffle"));
  EXPECT_THAT(numbered() | Shuffle{.page = 3},
              FailsWith(StatusCode::kInvalidArgument, "window is not"));
  EXPECT_THAT((numbered() | Shuffle{.window = 2, .page = 3}),
              FailsWith(StatusCode::kInvalidArgument, "a page of 3 elements does not fit"));
  EXPECT_THAT(numbered() | Shuffle{.window = 0},
              FailsWith(StatusCode::kInvalidArgument, "window is 0; it must be >= 1"));
  EXPECT_THAT(numbered() | Shuffle{.buffer = 0},
              FailsWith(StatusCode::kInvalidArgument, "buffer is 0"));
}

TEST(ShuffleByPosition, NeedsNoBufferWhateverIsAskedFor) {
  EXPECT_EQ(LabelsOf(NumberedImages(50) | Shuffle{.buffer = 3}),
            LabelsOf(NumberedImages(50) | Shuffle{}));
}

TEST(ShuffleByPosition, WithoutReshuffleGivesEveryEpochTheFirstOnesOrder) {
  const Result<Dataset> once = NumberedImages(50) | Shuffle{};
  const std::vector<int64_t> first = LabelsOf(once, {.seed = 3});
  EXPECT_EQ(LabelsOf(NumberedImages(50) | Shuffle{.reshuffle = false}, {.seed = 3, .epoch = 7}),
            first);
  std::vector<int64_t> twice = first;
  twice.insert(twice.end(), first.begin(), first.end());
  EXPECT_EQ(
      LabelsOf(NumberedImages(50) | Shuffle{.reshuffle = false} | Repeat{.count = 2}, {.seed = 3}),
      twice);
}

TEST(ShuffleByPosition, OfABillionElementsSavesInLessThanAKilobyte) {
  for (const Shuffle& shuffle : {Shuffle{}, Shuffle{.window = 1'000'000, .page = 1000}}) {
    const Result<Dataset> dataset = Source(Range{.stop = 1'000'000'000}) | shuffle | Batch{};
    const auto pass = *dataset->Open(Runtime::Threaded(2));
    for (int i = 0; i < 100; ++i) STOKER_ASSERT_OK(pass->Next());
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, pass->Save());
    EXPECT_LE(state.dump().size(), 1024u) << state;
  }
}

TEST(ShuffleInWindows, KeepsItsPromises) {
  ExpectKeepsItsPromises(*(NumberedImages(50) | Shuffle{.window = 12, .page = 5}));
  ExpectKeepsItsPromises(*(NumberedImages(50) | Shuffle{.window = 7} | Batch{.size = 4} |
                           Repeat{.count = 2} | Prefetch{}));
}

TEST(ShuffleInWindows, GivesEveryElementOnceAndOthersEachEpoch) {
  const Result<Dataset> dataset = NumberedImages(1000) | Shuffle{.window = 100, .page = 7};
  std::vector<int64_t> labels = LabelsOf(dataset);
  EXPECT_NE(labels, LabelsOf(dataset, {.epoch = 1}));
  EXPECT_NE(labels, LabelsOf(dataset, {.seed = 1}));
  std::ranges::sort(labels);
  EXPECT_EQ(labels, UpTo(1000));
}

TEST(ShuffleInWindows, IsRefusedForAStream) {
  EXPECT_THAT(StreamedImages(5) | Shuffle{.window = 2},
              FailsWith(StatusCode::kInvalidArgument, "can only be read in order"));
}

TEST(ShuffleThroughABuffer, KeepsItsPromises) {
  for (const int64_t buffer : {1, 5, 40, 100}) {
    ExpectKeepsItsPromises(*(StreamedImages(40) | Shuffle{.buffer = buffer}));
    ExpectKeepsItsPromises(*(EverySecond(NumberedImages(80)) | Shuffle{.buffer = buffer}));
  }
}

TEST(ShuffleThroughABuffer, KeepsItsPromisesAmongOthers) {
  const Map mark{.function = [](Element& element, Rng& rng, Scratch& scratch) {
    Array label = scratch.NewArray(DType::kInt64, {});
    label.values<int64_t>()[0] =
        element.arrays[1].values<int64_t>()[0] * 1000 + static_cast<int64_t>(rng.Below(1000));
    element.arrays[1] = std::move(label);
    return OkStatus();
  }};
  ExpectKeepsItsPromises(
      *(StreamedImages(30) | mark | Shuffle{.buffer = 8} | mark | Batch{.size = 4} | Prefetch{}));
  ExpectKeepsItsPromises(*(EverySecond(NumberedImages(60) | Shuffle{} | mark) | mark |
                           Shuffle{.buffer = 8} | mark | Repeat{.count = 2} | Prefetch{}));
  ExpectKeepsItsPromises(*(StreamedImages(30) | Shuffle{.buffer = 3} | Repeat{.count = 2} |
                           Shuffle{.buffer = 10} | Take{.count = 40}));
}

TEST(ShuffleThroughABuffer, GivesEveryElementOnceInAnOrderBySeedAndEpoch) {
  const Result<Dataset> dataset = StreamedImages(500) | Shuffle{.buffer = 100};
  std::vector<int64_t> labels = LabelsOf(dataset, {.seed = 1});
  EXPECT_EQ(labels, LabelsOf(dataset, {.seed = 1}));
  EXPECT_NE(labels, LabelsOf(dataset, {.seed = 2}));
  EXPECT_NE(labels, LabelsOf(dataset, {.seed = 1, .epoch = 1}));
  EXPECT_NE(labels, UpTo(500));
  std::ranges::sort(labels);
  EXPECT_EQ(labels, UpTo(500));
}

TEST(ShuffleThroughABuffer, KeepsSeedAndOrderWhereTold) {
  const Result<Dataset> seeded = StreamedImages(50) | Shuffle{.seed = 9, .buffer = 10};
  EXPECT_EQ(LabelsOf(seeded, {.seed = 1}), LabelsOf(seeded, {.seed = 2}));
  const Result<Dataset> fixed = StreamedImages(50) | Shuffle{.buffer = 10, .reshuffle = false};
  EXPECT_EQ(LabelsOf(fixed, {.epoch = 0}), LabelsOf(fixed, {.epoch = 5}));
}

TEST(ShuffleThroughABuffer, ReadsTheElementsOfAFilterAgainByKey) {
  const Result<Dataset> dataset = NumberedImages(90) | Filter{.field = "label", .min = 20} |
                                  Skip{.count = 3} | Shuffle{.buffer = 15};
  EXPECT_TRUE(dataset->node().rereadable());
  ExpectKeepsItsPromises(*dataset);
}

// With as many slots as elements, each element is as likely at each place.
TEST(ShuffleThroughABuffer, AsLargeAsTheInputIsAFairShuffle) {
  constexpr int kPasses = 3000, kElements = 4;
  const Result<Dataset> dataset = Counted(kElements) | Shuffle{.buffer = kElements};
  int counts[kElements][kElements] = {};
  for (uint64_t seed = 0; seed < kPasses; ++seed) {
    const std::vector<int64_t> order =
        Labels(*ReadAll(*dataset, Runtime::Inline(), {.seed = seed}), 0);
    for (size_t place = 0; place < order.size(); ++place) ++counts[place][order[place]];
  }
  for (const auto& place : counts) {
    for (const int count : place) EXPECT_NEAR(count, kPasses / kElements, 120);  // 5 sigma
  }
}

TEST(ShuffleThroughABuffer, ChoosesASizeFromTheSpec) {
  EXPECT_THAT((Counted(5) | Shuffle{})->ToString(), testing::HasSubstr("shuffle: buffer 10000"));
  const Dataset large = FromGenerator({{{"x", DType::kUInt8, {1 << 20}}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
  EXPECT_THAT((large | Shuffle{})->ToString(), testing::HasSubstr("shuffle: buffer 64"));
}

TEST(ShuffleThroughABuffer, LargerThanTheMemoryBudgetIsRefused) {
  // Two blocks of 64 bytes, and what an element takes beside them.
  const int64_t each = 2 * 64 + HeldInput::BytesAround(StreamedImages(1).spec());
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 8 * each - 1;
  EXPECT_THAT(
      (StreamedImages(5) | Shuffle{.buffer = 8})->Open(runtime),
      FailsWith(StatusCode::kResourceExhausted,
                fmt::format("a buffer of 8 elements takes {} bytes, but the memory budget is {} "
                            "bytes; set buffer to 7 or less, or set Runtime::memory_budget higher",
                            8 * each, 8 * each - 1)));
  EXPECT_THAT((StreamedImages(5) | Shuffle{.buffer = 7})->Open(runtime), IsOk());
  EXPECT_THAT((StreamedImages(5) | Shuffle{})->Open(runtime),
              FailsWith(StatusCode::kResourceExhausted,
                        "a buffer of 10000 elements (the automatic size) takes"));
  runtime.memory_budget = 100;
  EXPECT_THAT(
      (StreamedImages(5) | Shuffle{.buffer = 1})->Open(runtime),
      FailsWith(StatusCode::kResourceExhausted, "is 100 bytes; set Runtime::memory_budget higher"));
}

TEST(ShuffleThroughABuffer, ChargesWhatItHoldsAndGivesItBack) {
  constexpr int64_t kElement = 1 << 16;
  const Dataset source = FromGenerator({{{"x", DType::kUInt8, {kElement}}}}, [](uint64_t) {
    return [left = 30]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {kElement})}};
    };
  });
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 1 << 30;
  const Result<Dataset> dataset = source | Shuffle{.buffer = 10};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime));
  STOKER_ASSERT_OK(ReadAll(*iterator));
  EXPECT_EQ(iterator->GetProfile().peak_memory_bytes, 10 * kElement);
}

// What a pass saved after `done` elements, and how many reads its restoring and one element took.
struct Resumed {
  size_t bytes;
  int64_t read;
  int64_t label;
};
Resumed Resume(const Dataset& dataset, int64_t done, const std::function<int64_t()>& read) {
  const auto saved = *dataset.Open(Runtime::Inline());
  for (int64_t i = 0; i < done; ++i) EXPECT_THAT(saved->Next(), IsOk());
  const Json state = *saved->Save();
  const auto resumed = *dataset.Open(Runtime::Inline());
  EXPECT_THAT(resumed->Restore(state), IsOk());
  const int64_t before = read();
  const Element element = **resumed->Next();
  EXPECT_TRUE(SameBytes(element.arrays[0], (*saved->Next())->arrays[0]));
  return {state.dump().size(), read() - before, element.arrays.back().values<int64_t>()[0]};
}

TEST(ShuffleThroughABuffer, Of100000ElementsSavesInLessThanAMegabyte) {
  constexpr int64_t kBuffer = 100'000;
  const Dataset by_key = EverySecond(NumberedImages(5 * kBuffer) | Shuffle{});
  const Result<Dataset> shuffled = by_key | Shuffle{.buffer = kBuffer};
  const Resumed resumed = Resume(*shuffled, 60'000, [&] { return ReadOf(by_key); });
  EXPECT_GT(resumed.bytes, 2u * kBuffer);
  EXPECT_LT(resumed.bytes, 1'000'000u);
  // The elements held, and those of the input until the next one that is kept.
  EXPECT_LT(resumed.read, kBuffer + 100);

  std::atomic<int64_t> made = 0;
  const Result<Dataset> replayed = Counted(5 * kBuffer, &made) | Shuffle{.buffer = kBuffer};
  const Resumed again = Resume(*replayed, 60'000, [&] { return made.load(); });
  EXPECT_LT(again.bytes, 500u);
}

TEST(ShuffleThroughABuffer, IsReplayedFromBeforeTheOldestElementHeld) {
  constexpr int64_t kBuffer = 1000, kDone = 100'000;
  // Over a stream that comes back to any place at no cost but has no keys.
  const Result<Dataset> source = EverySecond(NumberedImages(4 * kDone)) | Batch{.size = 1};
  const Result<Dataset> dataset = source | Shuffle{.buffer = kBuffer};
  const Dataset& every_second = source->node().input();
  const Resumed resumed = Resume(*dataset, kDone, [&] { return ReadOf(every_second); });
  EXPECT_LT(resumed.bytes, 500u);
  EXPECT_GT(resumed.read, 2 * kBuffer);
  EXPECT_LT(resumed.read, 2 * kBuffer * 15);  // ln 1000 = 6.9, and the spread of the largest
}

TEST(ShuffleThroughABuffer, RefusesAPositionOfAnotherBufferAndADamagedOne) {
  const Result<Dataset> dataset = EverySecond(NumberedImages(40)) | Shuffle{.buffer = 5};
  const auto saved = *dataset->Open(Runtime::Inline());
  for (int i = 0; i < 7; ++i) STOKER_ASSERT_OK(saved->Next());
  const Json state = *saved->Save();
  const auto restore = [&](const Result<Dataset>& into, const Json& from) {
    const auto iterator = *into->Open(Runtime::Inline());
    STOKER_RETURN_IF_ERROR(iterator->Restore(from));
    return iterator->Next().status();
  };
  EXPECT_THAT(restore(EverySecond(NumberedImages(40)) | Shuffle{.buffer = 6}, state),
              FailsWith(StatusCode::kFailedPrecondition, "saved with a buffer of 5"));
  const auto with = [&](const char* pointer, const Json& value) {
    Json changed = state;
    changed[Json::json_pointer(pointer)] = value;
    return changed;
  };
  const std::tuple<const char*, Json, const char*> kBroken[] = {
      {"/draws", 3, "cannot be"},
      {"/ended", 1, "had ended"},
      {"/elements", 7, "no part 'elements'"},
      {"/elements/keys", "AAAA", "keys"},
      {"/elements/keys", 7, "keys"},
      {"/elements/held", 3, "does not hold 3"},
      {"/elements/pulled", 12, "its input at element 11"},
      {"/elements/input", 7, "input"},
  };
  for (const auto& [pointer, value, says] : kBroken)
    EXPECT_THAT(restore(dataset, with(pointer, value)), FailsWith(StatusCode::kDataLoss, says));
  EXPECT_THAT(restore(dataset, state), IsOk());
}

TEST(ShuffleThroughABuffer, SaysSoWhereTheDataHaveShrunk) {
  const auto shuffled = [](int64_t n) { return Counted(n) | Shuffle{.buffer = 5}; };
  const auto saved = *shuffled(40)->Open(Runtime::Inline());
  for (int i = 0; i < 20; ++i) STOKER_ASSERT_OK(saved->Next());
  const auto resumed = *shuffled(10)->Open(Runtime::Inline());
  STOKER_ASSERT_OK(resumed->Restore(*saved->Save()));
  EXPECT_THAT(resumed->Next(), FailsWith(StatusCode::kOutOfRange, "ended after 10"));
}

// Each asks its input for what one element takes and what many do; 60 would ask 2^60 times.
TEST(ShuffleByPosition, ManyShufflesAskForTheirMemoryNotTwiceAsOftenEach) {
  Result<Dataset> dataset = Source(Range{.stop = 10});
  for (int i = 0; i < 60; ++i) dataset = std::move(dataset) | Shuffle{};
  STOKER_ASSERT_OK(dataset);
  EXPECT_TRUE(dataset->node().MemoryToRead(4).has_value());
}

}  // namespace stoker::shuffle_test
