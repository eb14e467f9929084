// Passes that are broken off, asked to stop, outlived by their elements, or open several at once.
#include <thread>

#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/interleave.h"
#include "stoker/data/ops/mix.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::stopping_test {

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

// A batch of many slow elements would else be made to its end.
TEST(Pass, MakesNoFurtherElementOfABatchOnceItIsAskedToStop) {
  for (const Dataset& source : {NumberedImages(4000), StreamedImages(4000)}) {
    for (const Runtime::Kind kind : {Runtime::Kind::kInline, Runtime::Kind::kThreaded}) {
      std::atomic<bool> stop = false;
      std::atomic<int> calls = 0;
      const Map ask{.function = [&](Element&, Rng&, Scratch&) {
        ++calls;
        stop = true;
        return OkStatus();
      }};
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  Result<Dataset>(source) | ask | Batch{.size = 1000} | Prefetch{});
      constexpr int kThreads = 3;
      const Runtime runtime{.kind = kind, .threads = kThreads, .chunk = 4, .stop = &stop};
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
      EXPECT_LE(calls, kThreads) << dataset.ToString();
    }
  }
}

// Those that are destroyed last would else work on while the first ends.
TEST(Pass, NoInputOfSeveralBeginsAnythingOnceThePassIsBrokenOff) {
  std::atomic<bool> ending = false;
  std::atomic<int> late = 0;
  const Map slow{.function = [&](Element&, Rng&, Scratch&) {
    late += ending;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return OkStatus();
  }};
  const Result<Dataset> input =
      Result<Dataset>(StreamedImages(4000)) | slow | Prefetch{.depth = 50};
  const Pipelines inputs{input, input, input, input, input, input};
  const Result<Dataset> kSeveral[] = {
      Source(Zip{.inputs = inputs, .prefix = {"a", "b", "c", "d", "e", "f"}}),
      Source(Mix{.inputs = inputs}), Source(Interleave{.inputs = inputs, .cycle_length = 6})};
  for (const Result<Dataset>& several : kSeveral) {
    STOKER_ASSERT_OK_AND_ASSIGN(auto pass, several->Open(Runtime::Threaded(6)));
    STOKER_ASSERT_OK(pass->Next());
    late = 0;
    ending = true;
    pass.reset();
    EXPECT_LE(late, 1) << several->ToString();  // one may begin before the flag is raised
    ending = false;
  }
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

}  // namespace stoker::stopping_test
