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

TEST(Pass, RefusesAPositionSavedWithAnotherSeed) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(20) | Shuffle{});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> saved,
                              dataset.Open(Runtime::Inline(), {.seed = 1}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> other,
                              dataset.Open(Runtime::Inline(), {.seed = 2}));
  EXPECT_THAT(other->Restore(state),
              FailsWith(StatusCode::kFailedPrecondition, "saved with seed 1"));
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

}  // namespace
}  // namespace stoker
