// The promises that every pipeline keeps: the same bytes under both runtimes, at any number of
// threads, fresh and resumed; the memory budget; breaking off at any moment.
#include "stoker/data/runtime.h"

#include <numeric>
#include <random>
#include <thread>

#include "stoker/data/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/registry.h"
#include "stoker/data/testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// Adds a random number to each value: shows whether draws depend on anything but the sample.
Map AddNoise() {
  return {.function = [](Element& element, Rng& rng, Scratch& scratch) {
    const Array& from = element.arrays[0];
    Array to = scratch.NewArray(from.dtype(), from.shape());
    for (size_t i = 0; i < from.num_bytes(); ++i) {
      to.values<uint8_t>()[i] = static_cast<uint8_t>(from.values<uint8_t>()[i] + rng.Below(256));
    }
    element.arrays[0] = std::move(to);
    return OkStatus();
  }};
}

Map DoNothing() {
  return {.function = [](Element&, Rng&, Scratch&) { return OkStatus(); }};
}

// A pipeline of random operators over a random source, the same for the same seed.
Result<Dataset> RandomPipeline(uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(n));
  };
  Result<Dataset> dataset = draw(3) == 0 ? StreamedImages(draw(60)) : NumberedImages(draw(60));
  bool batched = false;
  for (int64_t stages = 1 + draw(6); stages > 0 && dataset.ok(); --stages) {
    switch (draw(7)) {
      case 0:
        if (dataset->node().random_access()) dataset = std::move(dataset) | Shuffle{};
        break;
      case 1: dataset = std::move(dataset) | Take{.count = draw(50)}; break;
      case 2: dataset = std::move(dataset) | Skip{.count = draw(8)}; break;
      case 3: dataset = std::move(dataset) | Repeat{.count = 1 + draw(3)}; break;
      case 4: dataset = std::move(dataset) | AddNoise(); break;
      case 5: dataset = std::move(dataset) | Prefetch{}; break;
      case 6:
        if (!batched)
          dataset = std::move(dataset) | Batch{.size = 1 + draw(9), .drop_remainder = draw(2) == 0};
        batched = true;
        break;
    }
  }
  return dataset;
}

TEST(RandomPipelines, GiveTheSameBytesInlineAndOnAnyNumberOfThreads) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    const PassOptions pass{.seed = seed, .epoch = seed % 3};
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                ReadAll(dataset, Runtime::Inline(), pass));
    if (dataset.cardinality().known()) {
      ASSERT_EQ(std::ssize(expected), dataset.cardinality().value());
    }
    for (const int threads : {1, 2, 8}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                  ReadAll(dataset, Runtime::Threaded(threads), pass));
      ASSERT_EQ(Fingerprint(got), Fingerprint(expected)) << threads << " threads\n"
                                                         << dataset.ToString();
    }
  }
}

TEST(RandomPipelines, ContinueExactlyWhereTheyWereSavedUnderEitherRuntime) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    const PassOptions pass{.seed = seed};
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                                ReadAll(dataset, Runtime::Inline(), pass));
    const Runtime runtimes[] = {Runtime::Inline(), Runtime::Threaded(2)};
    const Runtime& first = runtimes[seed % 2];
    const Runtime& second = runtimes[seed / 2 % 2];

    // Saved at two places, so that a restored pass is saved and restored again.
    std::vector<Element> pieces;
    Json state;
    for (const size_t part : {size_t{1}, size_t{2}, size_t{0}}) {
      const Runtime& runtime = part == 1 ? first : second;
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                  dataset.Open(runtime, pass));
      if (part != 1) {
        STOKER_ASSERT_OK(iterator->Restore(state));
      }
      const size_t stop = part == 0 ? whole.size() + 1 : part * whole.size() / 3;
      while (pieces.size() < stop) {
        STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Element> element, iterator->Next());
        if (!element) break;
        pieces.push_back(*std::move(element));
      }
      STOKER_ASSERT_OK_AND_ASSIGN(state, iterator->Save());
    }
    ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole)) << dataset.ToString();
  }
}

TEST(RandomPipelines, ArriveWholeUnderATinyMemoryBudget) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    Runtime tight = Runtime::Threaded(4);
    tight.memory_budget = 1 + seed % 7 * 50;  // most elements are larger than that
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                ReadAll(dataset, Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got, ReadAll(dataset, tight));
    ASSERT_EQ(Fingerprint(got), Fingerprint(expected)) << dataset.ToString();
  }
}

TEST(Pass, HoldsNoMoreThanTheBudgetAndOneElementUnderASlowConsumer) {
  constexpr int64_t kElement = 1 << 20;
  const Dataset source = NumberedImages(200);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(source) |
          Map{.function =
                  [](Element& element, Rng&, Scratch& scratch) {
                    element.arrays[0] = scratch.NewArray(DType::kUInt8, {kElement});
                    std::ranges::fill(element.arrays[0].values<uint8_t>(), 1);
                    return OkStatus();
                  },
              .output = {{{"image", DType::kUInt8, {kElement}}, source.spec().fields[1]}}} |
          Prefetch{.depth = 100});
  Runtime runtime = Runtime::Threaded(4);
  runtime.memory_budget = 8 * kElement;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
  for (int i = 0; i < 200; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
    ASSERT_TRUE(element);
    if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_LE(iterator->GetProfile().peak_memory_bytes, runtime.memory_budget + 2 * kElement);
}

TEST(Pass, CanBeBrokenOffAtAnyMoment) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(1000) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 4} | Repeat{} | Prefetch{});
  for (int i = 0; i < 300; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(1 + i % 4)));
    for (int n = i % 7; n > 0; --n) STOKER_ASSERT_OK(iterator->Next());
  }
}

TEST(Pass, LeavesElementsValidThatWereHandedOut) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(100) | AddNoise() | Batch{.size = 10});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> kept,
                              ReadAll(dataset, Runtime::Threaded(2)));  // the pass is gone
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                              ReadAll(dataset, Runtime::Inline()));
  EXPECT_EQ(Fingerprint(kept), Fingerprint(expected));
}

TEST(Pass, SeveralAtOnceDoNotDisturbEachOther) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(64) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 8} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                              ReadAll(dataset, Runtime::Inline()));
  std::vector<std::unique_ptr<Iterator>> open;
  for (int i = 0; i < 4; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(2)));
    open.push_back(std::move(iterator));
  }
  for (size_t b = 0; b < expected.size(); ++b) {
    for (const std::unique_ptr<Iterator>& iterator : open) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      ASSERT_TRUE(element);
      ASSERT_EQ(Fingerprint({*element}), Fingerprint({expected[b]}));
    }
  }
}

Map FailAt(int64_t label) {
  return {.function = [label](Element& element, Rng&, Scratch&) {
    if (element.arrays[1].values<int64_t>()[0] == label)
      return DataLoss("element {} is bad", label);
    return OkStatus();
  }};
}

TEST(Pass, DeliversWhatComesBeforeAnErrorThenTheErrorForGood) {
  for (const Dataset& source : {NumberedImages(50), StreamedImages(50)}) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(4)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  Result<Dataset>(source) | FailAt(17) | Prefetch{});
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
      for (int i = 0; i < 17; ++i) STOKER_ASSERT_OK(iterator->Next());
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 17 is bad"));
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 17 is bad"));
    }
  }
}

TEST(Pass, StandsBeforeTheElementThatFailedUnderEitherRuntime) {
  const auto pipelines = [](int64_t bad) -> std::vector<Result<Dataset>> {
    return {NumberedImages(100) | FailAt(bad), StreamedImages(100) | FailAt(bad),
            StreamedImages(100) | AddNoise() | FailAt(bad) | Prefetch{},
            StreamedImages(100) | FailAt(bad) | Batch{.size = 3} | Prefetch{}};
  };
  const Runtime runtimes[] = {Runtime::Inline(), Runtime::Threaded(2)};
  for (const int64_t bad : {0, 5, 64, 70}) {
    const std::vector<Result<Dataset>> failing = pipelines(bad), mended = pipelines(-1);
    for (size_t i = 0; i < failing.size() * 4; ++i) {
      const Result<Dataset>& dataset = failing[i / 4];
      const Runtime &first = runtimes[i % 2], &second = runtimes[i / 2 % 2];
      SCOPED_TRACE(testing::Message() << "bad " << bad << ", case " << i << "\n"
                                      << dataset->ToString());
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                                  ReadAll(*mended[i / 4], Runtime::Inline()));
      STOKER_ASSERT_OK_AND_ASSIGN(const auto broken, dataset->Open(first));
      std::vector<Element> pieces;
      Result<std::optional<Element>> next = broken->Next();
      for (; next.ok() && *next; next = broken->Next()) pieces.push_back(**std::move(next));
      EXPECT_THAT(next, FailsWith(StatusCode::kDataLoss, "is bad"));
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, broken->Save());

      // It fails again there, and stands there still.
      STOKER_ASSERT_OK_AND_ASSIGN(const auto again, dataset->Open(second));
      STOKER_ASSERT_OK(again->Restore(state));
      EXPECT_THAT(again->Next(), FailsWith(StatusCode::kDataLoss, "is bad"));
      STOKER_ASSERT_OK_AND_ASSIGN(const Json same, again->Save());

      STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, mended[i / 4]->Open(first));
      STOKER_ASSERT_OK(resumed->Restore(same));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*resumed));
      pieces.insert(pieces.end(), rest.begin(), rest.end());
      ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole));
    }
  }
}

TEST(Pass, TurnsAnExceptionOfUserCodeIntoAnErrorThatNamesTheElement) {
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        NumberedImages(9) | Map{.function = [](Element& element, Rng&, Scratch&) -> Status {
          if (element.key.index == 5) throw std::runtime_error("user code broke");
          return OkStatus();
        }});
    EXPECT_THAT(
        ReadAll(dataset, runtime),
        FailsWith(StatusCode::kInternal, "map: element 5: the function threw: user code broke"));
  }
}

TEST(Pass, TurnsWhateverUserCodeThrowsIntoAnError) {
  const auto throw_at = [](int64_t index) {
    return Map{.function = [index](Element& element, Rng&, Scratch&) -> Status {
      if (element.key.index == index) throw index;
      return OkStatus();
    }};
  };
  const Spec spec{{{"x", DType::kUInt8, {1}}}};
  const Dataset throws = FromGenerator(spec, [](uint64_t) {
    return [made = 0]() mutable -> Result<std::optional<Element>> {
      if (made++ == 2) throw made;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {1})}};
    };
  });
  const Dataset never_begins = FromGenerator(
      spec, [](uint64_t epoch) -> std::function<Result<std::optional<Element>>()> { throw epoch; });
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*(NumberedImages(9) | throw_at(5)), runtime),
                FailsWith(StatusCode::kInternal, "map: element 5: the function threw something"));
    EXPECT_THAT(ReadAll(*(StreamedImages(9) | throw_at(5)), runtime),
                FailsWith(StatusCode::kInternal, "map: element 5: the function threw something"));
    EXPECT_THAT(
        ReadAll(*(throws | Prefetch{}), runtime),
        FailsWith(StatusCode::kInternal, "generator: element 2: the function threw something"));
    EXPECT_THAT(ReadAll(*(never_begins | Prefetch{}), runtime),
                FailsWith(StatusCode::kInternal,
                          "generator: starting epoch 0: the function threw something"));
  }
}

// A stream that finds no memory for element 5.
class OutOfMemoryNode final : public DatasetNode {
 public:
  explicit OutOfMemoryNode(const Dataset& input)
      : DatasetNode("no_memory", input.spec(), Cardinality::Unknown(), {input}) {}
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> elements, context.OpenInput(input()));
    return std::make_unique<Stream>(context, *this, std::move(elements));
  }

 private:
  class Stream final : public Iterator {
   public:
    Stream(const OpenContext& context, const DatasetNode& node, std::unique_ptr<Iterator> input)
        : Iterator(context, node), input_(std::move(input)) {}

   private:
    Result<std::optional<Element>> DoNext() override {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (element && element->key.index == 5) throw std::bad_alloc();
      return element;
    }
    Result<Json> DoSave() const override { return input_->Save(); }
    Status DoRestore(const Json& state) override { return input_->Restore(state); }

    const std::unique_ptr<Iterator> input_;
  };
};

// Marks what it has seen, and finds no memory for element 5.
class OutOfMemoryTransform final : public Transform {
 public:
  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    if (element.key.index == 5) throw std::bad_alloc();
    Array label = scratch.NewArray(DType::kInt64, {});
    label.values<int64_t>()[0] = element.arrays[1].values<int64_t>()[0] + 1000;
    element.arrays[1] = std::move(label);
    return OkStatus();
  }
};

TEST(Pass, DeliversWhatWasMadeBeforeAWorkerRanOutOfMemory) {
  const Dataset source = StreamedImages(20);
  const Dataset pulls(std::make_shared<OutOfMemoryNode>(source));
  const Dataset maps =
      MapDataset(source, "marks", "", source.spec(), std::make_shared<OutOfMemoryTransform>());
  const std::pair<Result<Dataset>, int64_t> cases[] = {{pulls | Prefetch{}, 0}, {maps, 1000}};
  for (const auto& [dataset, mark] : cases) {
    SCOPED_TRACE(dataset->ToString());
    Json state;
    int64_t i = 0;
    for (const int64_t until : {3, 5}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(Runtime::Threaded(2)));
      if (i > 0) {
        STOKER_ASSERT_OK(iterator->Restore(state));
      }
      for (; i < until; ++i) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
        ASSERT_TRUE(element);
        EXPECT_EQ(element->arrays[1].values<int64_t>()[0], i + mark);
      }
      STOKER_ASSERT_OK_AND_ASSIGN(state, iterator->Save());
      if (until == 5) {
        EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kResourceExhausted, "element 5;"));
      }
    }
  }
}

Map MakeBytes(const Dataset& input, int64_t bytes, std::chrono::milliseconds takes = {}) {
  return {.function =
              [bytes, takes](Element& element, Rng&, Scratch& scratch) {
                Array made = scratch.NewArray(DType::kUInt8, {bytes});
                std::ranges::fill(made.values<uint8_t>(), uint8_t{1});
                std::this_thread::sleep_for(takes);  // the array that it is made from lives on
                element.arrays[0] = std::move(made);
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {bytes}}, input.spec().fields[1]}}};
}

TEST(Pass, AdmitsAnElementWithTheIntermediateResultsOnItsWay) {
  constexpr int64_t kLarge = 4 << 20, kSmall = 64 << 10;
  const Dataset source = NumberedImages(60);
  for (const bool spec_known : {true, false}) {
    Map shrink = MakeBytes(source, kSmall, std::chrono::milliseconds(3));
    if (!spec_known) shrink.output.fields[0].shape = {kUnknownDim};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | MakeBytes(source, kLarge) | shrink);
    Runtime runtime = Runtime::Threaded(6);
    runtime.memory_budget = 10 << 20;
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
    for (int i = 0; i < 60; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      ASSERT_TRUE(element);
    }
    // The budget, one element on its way, and the one that is read here.
    EXPECT_LE(iterator->GetProfile().peak_memory_bytes,
              runtime.memory_budget + kLarge + 2 * kSmall + 4096);
  }
}

TEST(Pass, CountsArraysOfUserCodeWhileTheyAreQueued) {
  constexpr int64_t kElement = 1 << 20;
  std::atomic<int> made = 0;
  const Dataset source = FromGenerator({{{"x", DType::kUInt8, {kElement}}}}, [&](uint64_t) {
    return [&]() -> Result<std::optional<Element>> {
      ++made;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {kElement})}};
    };
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(source) | Prefetch{.depth = 100});
  Runtime runtime = Runtime::Threaded(2);
  runtime.memory_budget = 8 * kElement;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
  STOKER_ASSERT_OK(iterator->Next());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // as many as may be
  EXPECT_GE(made, 4);
  EXPECT_LE(made, 10);
  for (int i = 0; i < 50; ++i) STOKER_ASSERT_OK(iterator->Next());
}

TEST(Pass, ReadsAheadWhereElementsOfUnknownSizeReachAPrefetchCharged) {
  const Dataset source = FromGenerator({{{"x", DType::kUInt8, {kUnknownDim}}}}, [](uint64_t) {
    return [left = 80]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {1000})}};
    };
  });
  const Map copy{.function = [](Element& element, Rng&, Scratch& scratch) {
    element.arrays[0] = scratch.NewArray(DType::kUInt8, {1000});
    return OkStatus();
  }};
  Runtime runtime = Runtime::Threaded(4);
  runtime.memory_budget = 1 << 20;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(source) | copy | Prefetch{.depth = 8});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
  for (int i = 0; i < 80; ++i) {
    STOKER_ASSERT_OK(iterator->Next());
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  EXPECT_GT(iterator->GetProfile().stages.back().mean_queue_depth, 2);  // of 9
}

TEST(Pass, WithoutABudgetOfItsOwnSharesOneWithAllOthers) {
  const int64_t before = Ledger::Default()->bytes();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(8) | AddNoise());
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto first, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto second, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto of_first, first->Next());
    EXPECT_EQ(Ledger::Default()->bytes(), before + 64);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto of_second, second->Next());
    EXPECT_EQ(Ledger::Default()->bytes(), before + 128);
    EXPECT_EQ(second->GetProfile().peak_memory_bytes, 64);  // its own

    Runtime own = Runtime::Inline();
    own.memory_budget = 1 << 20;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto third, dataset.Open(own));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto of_third, third->Next());
    EXPECT_EQ(Ledger::Default()->bytes(), before + 128);
  }
  EXPECT_EQ(Ledger::Default()->bytes(), before);
}

// Elements of 64 KiB, so that each is a chunk. From `slow_epoch` on each takes 10 ms.
Dataset LargeStream(int64_t n, uint64_t slow_epoch) {
  constexpr int64_t kElement = 64 << 10;
  return FromGenerator({{{"x", DType::kUInt8, {kElement}}}}, [=](uint64_t epoch) {
    const bool slow = epoch >= slow_epoch;
    return [=, left = n]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {kElement})}};
    };
  });
}

constexpr int64_t kEndless = int64_t{1} << 40;
constexpr double kPrompt = 5;  // seconds; what is broken off would take very much longer

TEST(Pass, EndsPromptlyInTheMiddleOfSkippingMuchWhenItIsDestroyed) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, LargeStream(2001, /*slow_epoch=*/1) |
                                                         Skip{.count = 2000} | Repeat{} |
                                                         Prefetch{});
  Stopwatch since_destruction;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK(iterator->Next());  // now the second epoch's elements are skipped, for 20 s
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    since_destruction = Stopwatch();
  }
  EXPECT_LT(since_destruction.ElapsedSeconds(), kPrompt);
}

TEST(Pass, EndsPromptlyWhenAskedToWhileItSkipsOrReadsAgain) {
  const Dataset slow = LargeStream(kEndless, /*slow_epoch=*/0);
  for (Runtime runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    for (const bool restored : {false, true}) {
      std::atomic<bool> stop = false;
      runtime.stop = &stop;
      STOKER_ASSERT_OK_AND_ASSIGN(
          const Dataset dataset,
          slow | Skip{.count = restored ? 0 : kEndless} | AddNoise() | Prefetch{});
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
      if (restored) {
        STOKER_ASSERT_OK_AND_ASSIGN(Json state, iterator->Save());
        Json* deepest = &state;
        while (deepest->contains("input")) deepest = &(*deepest)["input"];
        (*deepest)["position"] = kEndless - 1;
        STOKER_ASSERT_OK(iterator->Restore(state));
      }
      std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        stop = true;
      });
      const Stopwatch watch;
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
      EXPECT_LT(watch.ElapsedSeconds(), kPrompt);
      for (const StageProfile& stage : iterator->GetProfile().stages) EXPECT_EQ(stage.errors, 0);
    }
  }
}

TEST(Pass, StandsAfterItsLastElementWhereItWasAskedToStop) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              StreamedImages(300) | AddNoise() | Batch{.size = 3} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                              ReadAll(dataset, Runtime::Inline()));
  std::atomic<bool> stop = false;
  Runtime runtime = Runtime::Threaded(2);
  runtime.stop = &stop;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto stopped, dataset.Open(runtime));
  std::vector<Element> pieces;
  for (int i = 0; i < 40; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Element> element, stopped->Next());
    pieces.push_back(*std::move(element));
  }
  stop = true;
  EXPECT_THAT(stopped->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, stopped->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(resumed->Restore(state));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*resumed));
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  EXPECT_EQ(Fingerprint(pieces), Fingerprint(whole));
}

TEST(Pass, HasNoPositionWhereAnErrorBrokeAnElementOff) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              StreamedImages(10) | FailAt(5) | Batch{.size = 4});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(iterator->Next());
  STOKER_ASSERT_OK(iterator->Save());
  EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 5 is bad"));
  EXPECT_THAT(iterator->Save(),
              FailsWith(StatusCode::kFailedPrecondition, "in the middle of an element"));
}

TEST(Pass, RefusesAPositionSavedWithAnotherSeed) {
  const Result<Dataset> datasets[] = {
      NumberedImages(20) | Shuffle{},
      StreamedImages(20) | AddNoise(),
      StreamedImages(20) | AddNoise() | Batch{.size = 2} | Repeat{.count = 2} | Prefetch{},
      StreamedImages(20) | Skip{.count = 1},
  };
  for (const Result<Dataset>& dataset : datasets) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset->Open(runtime, {.seed = 1}));
      STOKER_ASSERT_OK(saved->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto other, dataset->Open(runtime, {.seed = 2}));
      EXPECT_THAT(other->Restore(state),
                  FailsWith(StatusCode::kFailedPrecondition, "saved with seed 1"));
      STOKER_ASSERT_OK_AND_ASSIGN(const auto same, dataset->Open(runtime, {.seed = 1}));
      EXPECT_THAT(same->Restore(state), IsOk());
    }
  }
}

TEST(Pass, RefusesDamagedPositions) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(20) | Shuffle{});
  const std::pair<Json, const char*> kBroken[] = {
      {Json::array(), "no JSON object"},
      {Json::object(), "no integer 'seed'"},
      {{{"seed", 0}, {"epoch", 0}}, "no integer 'position'"},
      {{{"seed", 0}, {"epoch", 0}, {"position", 21}}, "element 21"},
      {{{"seed", 0}, {"epoch", 0}, {"position", -1}}, "'position' -1"},
  };
  for (const auto& [state, says] : kBroken) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(2)));
    const Status status = iterator->Restore(state);
    EXPECT_FALSE(status.ok()) << state;
    EXPECT_THAT(status.message(), HasSubstr(says));
  }
}

TEST(Pass, SavesARandomAccessPipelineInUnder200Bytes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(1000) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 10} | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                              dataset.Open(Runtime::Threaded(2)));
  for (int i = 0; i < 333; ++i) STOKER_ASSERT_OK(iterator->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
  EXPECT_LT(state.dump().size(), 200u) << state;
}

TEST(Profile, CountsEveryElementOfEveryStageAndSplitsTheTime) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(100) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 10} | Prefetch{});
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
    STOKER_ASSERT_OK(ReadAll(*iterator));
    const Profile profile = iterator->GetProfile();
    std::vector<std::pair<std::string, int64_t>> counted;
    double busy = 0;
    for (const StageProfile& stage : profile.stages) {
      counted.emplace_back(stage.name, stage.elements);
      busy += stage.busy_s;
    }
    EXPECT_THAT(counted,
                testing::ElementsAre(testing::Pair("arrays", 100), testing::Pair("shuffle", 100),
                                     testing::Pair("map", 100), testing::Pair("batch", 10),
                                     testing::Pair("prefetch", 10)));
    EXPECT_GT(busy, 0);
    EXPECT_LE(busy, profile.wall_s * profile.threads);
  }
}

TEST(Profile, CountsNoMomentOfAThreadTwice) {
  const auto slowly = [](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OkStatus();
  };
  const Result<Dataset> datasets[] = {
      NumberedImages(40) | Map{.function = slowly} | Prefetch{},
      StreamedImages(40) | Map{.function = slowly} | Prefetch{},
      StreamedImages(40) | Map{.function = slowly} | Batch{.size = 4} | Prefetch{},
      LargeStream(20, /*slow_epoch=*/0) | Map{.function = slowly},
  };
  for (const Result<Dataset>& dataset : datasets) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(3)}) {
      for (const int consumer_ms : {0, 2}) {
        SCOPED_TRACE(testing::Message() << dataset->ToString() << runtime.threads << " threads, "
                                        << consumer_ms << " ms");
        STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime));
        while (true) {
          STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
          if (!element) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(consumer_ms));
        }
        const Profile profile = iterator->GetProfile();
        for (const StageProfile& stage : profile.stages) {
          EXPECT_LE(stage.busy_s + stage.starved_s + stage.blocked_s,
                    profile.wall_s * profile.threads)
              << stage.name << ": busy " << stage.busy_s << ", starved " << stage.starved_s
              << ", blocked " << stage.blocked_s << " of " << profile.wall_s;
        }
        EXPECT_LE(profile.consumer_waited_s, profile.wall_s);
      }
    }
  }
}

TEST(Profile, CallsWorkersBlockedThatQueueBehindOneThatIs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              LargeStream(60, /*slow_epoch=*/1) | DoNothing());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(4)));
  for (int i = 0; i < 60; ++i) {
    STOKER_ASSERT_OK(iterator->Next());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const StageProfile map = iterator->GetProfile().stages.back();
  EXPECT_GT(map.blocked_s, 3 * map.starved_s);
}

TEST(Profile, SaysThatTheConsumerWaitedWhereThePipelineIsSlow) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              LargeStream(20, /*slow_epoch=*/0) | DoNothing());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  STOKER_ASSERT_OK(ReadAll(*iterator));
  const Profile profile = iterator->GetProfile();
  EXPECT_GT(profile.consumer_waited_s, 0.1);        // of 0.2
  EXPECT_GT(profile.stages.back().starved_s, 0.1);  // so did the workers, for the generator
  EXPECT_GT(profile.stages.front().busy_s, 0.19);
}

}  // namespace
}  // namespace stoker
