// `prefetch: {deterministic: false}`: the same elements, each once, also over save and restore; in
// any order only where no later stage depends on it.
#include <algorithm>
#include <thread>

#include "stoker/data/ops/interleave.h"
#include "stoker/data/testing/random_pipeline.h"

namespace stoker::any_order_test {

constexpr Prefetch kAnyOrder{.deterministic = false};

std::vector<std::string> Sorted(const std::vector<Element>& elements) {
  std::vector<std::string> each;
  for (const Element& element : elements) each.push_back(Fingerprint({element}));
  std::ranges::sort(each);
  return each;
}

// Of each four elements one takes a millisecond, so that it is overtaken.
Map SlowNowAndThen() {
  return {.function = [](Element& element, Rng&, Scratch&) {
    if (element.key.index % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OkStatus();
  }};
}

TEST(AnyOrder, GivesTheSameElementsOfRandomPipelines) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset ordered, RandomPipeline(seed));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(ordered) | DoNothing() | kAnyOrder);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                ReadAll(ordered, Runtime::Inline()));
    for (Runtime runtime : {Runtime::Inline(), Runtime::Threaded(2), Runtime::Threaded(8)}) {
      runtime.chunk = seed % 4;
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got, ReadAll(dataset, runtime));
      ASSERT_EQ(Sorted(got), Sorted(expected)) << runtime.threads << " threads\n"
                                               << dataset.ToString();
    }
  }
}

TEST(AnyOrder, ASlowElementHoldsUpNoOther) {
  for (const Dataset& source : {NumberedImages(8), StreamedImages(8)}) {
    std::atomic<bool> others_came = false;
    const Map first_waits{.function = [&](Element& element, Rng&, Scratch&) {
      while (element.key.index == 0 && !others_came) std::this_thread::yield();
      return OkStatus();
    }};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | first_waits | kAnyOrder);
    Runtime runtime = Runtime::Threaded(2);
    runtime.chunk = 1;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    std::vector<int64_t> labels;
    for (int i = 0; i < 7; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      labels.push_back(element->arrays[1].values<int64_t>()[0]);
    }
    EXPECT_THAT(labels, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7));
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
    EXPECT_EQ(state["beyond"].dump(), "[[1,8]]") << state;
    others_came = true;
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*iterator));
    EXPECT_THAT(Labels(rest), testing::ElementsAre(0));
  }
}

// Reads `dataset` in several passes, each restored from where the one before was saved.
Result<std::vector<Element>> ReadInPieces(const Dataset& dataset, uint32_t seed) {
  Draws draws(seed);
  const Runtime runtimes[] = {Runtime::Inline(), Runtime::Threaded(2), Runtime::Threaded(4)};
  std::vector<Element> pieces;
  Json state;
  for (bool ended = false; !ended;) {
    Runtime runtime = runtimes[draws.Below(3)];
    runtime.chunk = draws.Below(3);
    STOKER_ASSIGN_OR_RETURN(const auto iterator, dataset.Open(runtime));
    if (!state.is_null()) STOKER_RETURN_IF_ERROR(iterator->Restore(state));
    for (int64_t left = draws.Below(12); left > 0 && !ended; --left) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, iterator->Next());
      ended = !element;
      if (element) pieces.push_back(*std::move(element));
    }
    STOKER_ASSIGN_OR_RETURN(state, iterator->Save());
  }
  return pieces;
}

TEST(AnyOrder, GivesEachElementOnceThoughSavedAndRestoredAnywhere) {
  for (const Dataset& source : {NumberedImages(60), StreamedImages(150)}) {
    const Result<Dataset> datasets[] = {
        Result<Dataset>(source) | SlowNowAndThen() | kAnyOrder,
        Result<Dataset>(source) | SlowNowAndThen() | kAnyOrder | Repeat{.count = 2},
        Result<Dataset>(source) | kAnyOrder | SlowNowAndThen(),
    };
    for (const Result<Dataset>& dataset : datasets) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                  ReadAll(*dataset, Runtime::Inline()));
      for (uint32_t seed = 0; seed < 8; ++seed) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got, ReadInPieces(*dataset, seed));
        ASSERT_EQ(Sorted(got), Sorted(expected)) << "seed " << seed << "\n" << dataset->ToString();
      }
    }
  }
}

// Batches are made of whatever comes, so their samples are compared.
TEST(AnyOrder, ReachesThroughBatchAndPrefetchAndStaysExact) {
  for (const Prefetch& last : {Prefetch{}, kAnyOrder}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, StreamedImages(100) | SlowNowAndThen() |
                                                           kAnyOrder | Batch{.size = 3} | last);
    std::vector<int64_t> all(100);
    std::iota(all.begin(), all.end(), 0);
    for (uint32_t seed = 0; seed < 20; ++seed) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got, ReadInPieces(dataset, seed));
      std::vector<int64_t> labels = Labels(got);
      std::ranges::sort(labels);
      ASSERT_EQ(labels, all) << "seed " << seed;
    }
  }
}

TEST(AnyOrder, IsNoneWhereWhatFollowsDependsOnTheOrder) {
  const auto slow = [](const Dataset& source) {
    return Result<Dataset>(source) | SlowNowAndThen() | kAnyOrder;
  };
  const Result<Dataset> datasets[] = {
      slow(StreamedImages(40)) | Take{.count = 20},
      slow(StreamedImages(40)) | Skip{.count = 3} | Prefetch{},
      slow(StreamedImages(40)) | Batch{.size = 3, .drop_remainder = true},
      slow(NumberedImages(40)) | Batch{.size = 3},
  };
  Runtime runtime = Runtime::Threaded(4);
  runtime.chunk = 1;
  for (const Result<Dataset>& dataset : datasets) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(*dataset, Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*dataset, runtime));
    EXPECT_EQ(Fingerprint(got), Fingerprint(expected)) << dataset->ToString();
  }
}

TEST(AnyOrder, StandsWhereItFailedAndContinuesWithWhatIsMissing) {
  for (const Dataset& source : {NumberedImages(50), StreamedImages(50)}) {
    const auto pipeline = [&](int64_t bad) {
      return Result<Dataset>(source) | SlowNowAndThen() | FailAt(bad) | kAnyOrder;
    };
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(3)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto failing, pipeline(17)->Open(runtime));
      std::vector<Element> pieces;
      Result<std::optional<Element>> next = failing->Next();
      for (; next.ok() && *next; next = failing->Next()) pieces.push_back(**std::move(next));
      EXPECT_THAT(next, FailsWith(StatusCode::kDataLoss, "element 17 is bad"));
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, failing->Save());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto corrected, pipeline(-1)->Open(runtime));
      STOKER_ASSERT_OK(corrected->Restore(state));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*corrected));
      pieces.insert(pieces.end(), rest.begin(), rest.end());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto whole, ReadAll(source, Runtime::Inline()));
      EXPECT_EQ(Sorted(pieces), Sorted(whole));
    }
  }
}

// Input n of `lengths` is images numbered from 100 n; every fourth takes a millisecond.
InterleaveEach FirstCome(std::vector<int64_t> lengths) {
  return {.function = [lengths](const Element& element) -> Result<Dataset> {
            const auto n = static_cast<size_t>(element.key.index);
            return StreamedImages(lengths[n]) | SlowNowAndThen();
          },
          .output = StreamedImages(1).spec(),
          .cycle_length = 3,
          .block_length = 2,
          .deterministic = false};
}

TEST(AnyOrder, InterleaveGivesEachElementOnceThoughSavedAndRestoredAnywhere) {
  const Result<Dataset> interleaved =
      NumberedImages(7) | FirstCome({9, 0, 14, 3, 8, 20, 1}) | Prefetch{};
  for (const Result<Dataset>& dataset :
       {interleaved, interleaved | Repeat{.count = 2}, interleaved | DoNothing() | kAnyOrder}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                ReadAll(*dataset, Runtime::Inline()));
    for (uint32_t seed = 0; seed < 20; ++seed) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got, ReadInPieces(*dataset, seed));
      ASSERT_EQ(Sorted(got), Sorted(expected)) << "seed " << seed << "\n" << dataset->ToString();
    }
  }
}

TEST(AnyOrder, AnInputOfInterleaveThatHasNothingReadyHoldsUpNoOther) {
  std::atomic<bool> others_came = false;
  const InterleaveEach interleave{
      .function = [&](const Element& element) -> Result<Dataset> {
        const bool waits = element.key.index == 0;
        const Map map{.function = [&others_came, waits](Element&, Rng&, Scratch&) {
          while (waits && !others_came) std::this_thread::yield();
          return OkStatus();
        }};
        return StreamedImages(5) | map;
      },
      .output = StreamedImages(1).spec(),
      .cycle_length = 2,
      .deterministic = false};
  for (const Result<Dataset>& dataset :
       {NumberedImages(4) | interleave, NumberedImages(4) | interleave | kAnyOrder}) {
    others_came = false;
    Runtime runtime = Runtime::Threaded(2);
    runtime.chunk = 1;  // those of the others do not wait to be many
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime));
    int of_others = 0;
    for (; of_others < 15; ++of_others) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      ASSERT_TRUE(element);
    }
    others_came = true;
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*iterator));
    EXPECT_THAT(Labels(rest), testing::ElementsAre(0, 1, 2, 3, 4));
  }
}

TEST(AnyOrder, OfInterleaveIsNoneWhereWhatFollowsDependsOnTheOrder) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(3) | FirstCome({9, 4, 6}) | Take{.count = 10});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(dataset, Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(dataset, Runtime::Threaded(4)));
  EXPECT_EQ(Fingerprint(got), Fingerprint(expected));
}

TEST(AnyOrder, EndsWhenItIsStoppedWhileEveryInputOfInterleaveIsSlow) {
  std::atomic<bool> stop = false;
  const InterleaveEach slow{.function = [&stop](const Element&) -> Result<Dataset> {
                              const Map map{.function = [&stop](Element&, Rng&, Scratch&) {
                                while (!stop) std::this_thread::yield();
                                return OkStatus();
                              }};
                              return StreamedImages(50) | map;
                            },
                            .output = StreamedImages(1).spec(),
                            .deterministic = false};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(6) | slow | Prefetch{});
  Runtime runtime = Runtime::Threaded(2);
  runtime.stop = &stop;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
  std::thread stopper([&] { stop = true; });
  Result<std::optional<Element>> next = iterator->Next();
  while (next.ok() && *next) next = iterator->Next();
  stopper.join();
  EXPECT_EQ(next.status().code(), StatusCode::kCancelled);
}

TEST(AnyOrder, IsRefusedForPredictions) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(4) | kAnyOrder);
  EXPECT_EQ(dataset.node().Disturbs(), "gives elements in any order (deterministic: false)");
}

}  // namespace stoker::any_order_test
