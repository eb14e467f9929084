#include "stoker/data/ops/cache.h"

#include <atomic>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/mix.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/testing/cached.h"

namespace stoker::cache_test {

using testing::HasSubstr;

TEST(Cache, GivesTheBytesOfThePipelineWithoutItAndMakesEachElementOnce) {
  for (const Case& c : Cases()) {
    for (const bool on_disk : {false, true}) {
      for (const Runtime& runtime : kRuntimes) {
        SCOPED_TRACE(testing::Message()
                     << c.name << (on_disk ? " on disk " : " in memory ") << runtime.threads);
        const TempDir dir;
        const Cache cache{.path = on_disk ? dir / "cache" : ""};
        std::atomic<int> unused = 0, calls = 0;
        // Another stage in its place, since stages are numbered for the draws after them.
        STOKER_ASSERT_OK_AND_ASSIGN(const Dataset plain, Epochs(c.before(unused) | Prefetch{}));
        STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cached, Epochs(c.before(calls) | cache));
        STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                    ReadAll(plain, Runtime::Inline(), {.seed = 3}));
        STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                    ReadAll(cached, runtime, {.seed = 3}));
        EXPECT_EQ(Fingerprint(got), Fingerprint(expected));
        // Threads that read a next epoch ahead make again what is not kept yet; a next pass makes
        // nothing, nor does one thread.
        const int made = calls;
        if (runtime.kind == Runtime::Kind::kInline) {
          EXPECT_EQ(made, 60);
        }
        STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> again,
                                    ReadAll(cached, Runtime::Inline(), {.seed = 3}));
        EXPECT_EQ(Fingerprint(again), Fingerprint(got));
        EXPECT_EQ(calls, made);
      }
    }
  }
}

TEST(Cache, KeepsKeysSoThatDrawsBehindItAreThoseOfEachEpoch) {
  std::atomic<int> calls = 0;
  for (const Dataset& source : {NumberedImages(30), StreamedImages(30)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cached, Result<Dataset>(source) | Costly(calls) |
                                                          Skip{.count = 5} | Cache{} |
                                                          Repeat{.count = 2});
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                ReadAll(cached, Runtime::Threaded(2)));
    ASSERT_EQ(got.size(), 50u);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].key, (SampleKey{i / 25, static_cast<int64_t>(5 + i % 25)}));
    }
  }
}

TEST(Cache, ContinuesWithTheSameBytesFromEveryPositionInANewProcess) {
  for (const Case& c : Cases()) {
    for (const bool on_disk : {false, true}) {
      SCOPED_TRACE(testing::Message() << c.name << on_disk);
      std::atomic<int> calls = 0;
      const TempDir dir;
      // A dataset made anew has nothing in memory, as in a new process.
      const auto make = [&] {
        return *Epochs(c.before(calls) | Cache{.path = on_disk ? dir / "cache" : ""});
      };
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                                  ReadAll(make(), Runtime::Inline(), {.seed = 3}));
      for (size_t at = 0; at <= whole.size(); at += whole.size() > 60 ? 7 : 1) {
        if (at % 2 == 0) std::filesystem::remove(dir / "cache");
        const Runtime& first = kRuntimes[at % 4];
        const Runtime& second = kRuntimes[at / 4 % 4];
        STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, make().Open(first, {.seed = 3}));
        for (size_t i = 0; i < at; ++i) STOKER_ASSERT_OK(iterator->Next());
        STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
        STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, make().Open(second, {.seed = 3}));
        STOKER_ASSERT_OK(resumed->Restore(state));
        STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*resumed));
        const std::vector<Element> expected(whole.begin() + static_cast<std::ptrdiff_t>(at),
                                            whole.end());
        ASSERT_EQ(Fingerprint(rest), Fingerprint(expected)) << "from " << at;
      }
    }
  }
}

// A store that another pass completes between a restore and the next save.
TEST(Cache, SavedAgainWhereItWasCompletedMeanwhileContinuesInAnotherProcess) {
  const auto make = [] { return *(Result<Dataset>(StreamedImages(50)) | Cache{}); };
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole, ReadAll(make(), Runtime::Inline()));
  const Dataset dataset = make();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, dataset.Open(Runtime::Inline()));
  for (int i = 0; i < 10; ++i) STOKER_ASSERT_OK(first->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json at_10, first->Save());
  STOKER_ASSERT_OK(ReadAll(*first));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto second, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(second->Restore(at_10));
  for (int i = 0; i < 20; ++i) STOKER_ASSERT_OK(second->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json at_30, second->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto third, make().Open(Runtime::Inline()));
  STOKER_ASSERT_OK(third->Restore(at_30));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*third));
  EXPECT_EQ(Fingerprint(rest), Fingerprint({whole.begin() + 30, whole.end()}));
}

TEST(Cache, ManyPassesOnSeveralThreadsFillItAndReadItWhole) {
  for (int round = 0; round < 30; ++round) {
    const Dataset dataset = *(Result<Dataset>(StreamedImages(40)) | Cache{});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int pass = 0; pass < 5; ++pass) {
          const auto iterator = dataset.Open(Runtime::Inline());
          ASSERT_TRUE(iterator.ok());
          if ((pass + t) % 3 == 0) {
            ASSERT_TRUE((*iterator)->Next().ok());  // broken off
            continue;
          }
          const auto all = ReadAll(**iterator);
          ASSERT_TRUE(all.ok()) << all.status().message();
          ASSERT_EQ(all->size(), 40u);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Cache, BrokenOffKeepsNothingInOrderAndWhatItReadByPosition) {
  const std::pair<Dataset, int> cases[] = {{NumberedImages(20), 20}, {StreamedImages(20), 30}};
  for (const auto& [source, expected_calls] : cases) {
    std::atomic<int> calls = 0;
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | Costly(calls) | Cache{});
    {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
      for (int i = 0; i < 10; ++i) STOKER_ASSERT_OK(iterator->Next());
    }
    for (int epoch = 0; epoch < 3; ++epoch) STOKER_ASSERT_OK(ReadAll(dataset, Runtime::Inline()));
    EXPECT_EQ(calls, expected_calls);
  }
}

TEST(Cache, SeveralPassesAtOnceGiveTheSame) {
  for (const Dataset& source : {NumberedImages(30), StreamedImages(30)}) {
    std::atomic<int> calls = 0;
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(source) | Costly(calls) |
                                                           Cache{} | Repeat{.count = 2});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto first, dataset.Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto second, dataset.Open(Runtime::Threaded(2)));
    for (int i = 0; i < 60; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto a, first->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto b, second->Next());
      ASSERT_EQ(Fingerprint({*a}), Fingerprint({*b}));
    }
  }
}

TEST(Cache, InMemoryStaysWithinHalfOfTheBudgetIsChargedAndSaysWhatDoesNotFit) {
  constexpr int64_t kImage = 1 << 20, kBudget = 16 << 20;
  for (const bool by_position : {true, false}) {
    std::atomic<int> calls = 0;
    const Dataset source = by_position ? NumberedImages(20) : StreamedImages(20);
    const Map enlarge{.function =
                          [&](Element& element, Rng&, Scratch& scratch) {
                            ++calls;
                            const auto value = element.arrays[0].values<uint8_t>()[0];
                            element.arrays[0] = scratch.NewArray(DType::kUInt8, {kImage});
                            std::ranges::fill(element.arrays[0].values<uint8_t>(), value);
                            return OkStatus();
                          },
                      .output = {{{"image", DType::kUInt8, {kImage}}, source.spec().fields[1]}},
                      .random = false};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | enlarge | Cache{} | Repeat{.count = 3});
    Runtime runtime = Runtime::Inline();
    runtime.memory_budget = kBudget;
    testing::internal::CaptureStderr();
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    for (int64_t i = 0; i < 60; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      ASSERT_TRUE(element);
      ASSERT_EQ(element->arrays[1].values<int64_t>()[0], i % 20);
    }
    const Profile profile = iterator->GetProfile();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr(by_position ? "cache: 20 elements take 21.0 MB, and there is room"
                                            : "cache: the elements take more, and there is room"));
    EXPECT_THAT(said, HasSubstr("room for 8.4 MB, half of the memory budget"));
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    const int64_t cached = profile.stages[2].peak_memory_bytes;
    EXPECT_LE(cached, kBudget / 2);
    EXPECT_GT(cached, kBudget / 2 - 2 * kImage);
    EXPECT_EQ(calls, by_position ? 20 + 2 * 13 : 60);
  }
}

// Elements of kBytes, whose Spec tells so or not.
Result<Dataset> Enlarged(const Dataset& source, int64_t bytes, bool spec_known) {
  return Result<Dataset>(source) |
         Map{.function =
                 [bytes](Element& element, Rng&, Scratch& scratch) {
                   element.arrays[0] = scratch.NewArray(DType::kUInt8, {bytes});
                   std::ranges::fill(element.arrays[0].values<uint8_t>(), uint8_t{1});
                   return OkStatus();
                 },
             .output = {{{"image", DType::kUInt8, {spec_known ? bytes : kUnknownDim}},
                         source.spec().fields[1]}},
             .random = false};
}

TEST(Cache, SaysBeforeTheFirstEpochThatItCannotFit) {
  for (const bool spec_known : {true, false}) {
    for (const int64_t budget : {int64_t{8} << 20, int64_t{64} << 20}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  Enlarged(NumberedImages(20), 1 << 20, spec_known) | Cache{});
      Runtime runtime = Runtime::Inline();
      runtime.memory_budget = budget;
      testing::internal::CaptureStderr();
      const auto opened = dataset.Open(runtime);
      const std::string said = testing::internal::GetCapturedStderr();
      STOKER_ASSERT_OK(opened);
      if (budget > int64_t{32} << 20) {
        EXPECT_EQ(said, "");
        continue;
      }
      EXPECT_THAT(said, HasSubstr(spec_known ? "20 elements take 21.0 MB, and there is room for "
                                               "4.2 MB"
                                             : "20 elements take about 21.0 MB"));
      EXPECT_THAT(said, HasSubstr("made again in every epoch: set Runtime::memory_budget higher"));
    }
  }
}

// Elements of unknown size are looked at when the first pass is opened, which can take long.
TEST(Cache, APassThatIsStoppedWhileItLooksAtElementsLeavesThatToTheNext) {
  constexpr double kStall = 300;  // seconds; only a thread that does not stop sees them pass
  std::atomic<bool> stalls = true, looking = false;
  Map waits{.function = [&](Element&, Rng&, Scratch&) {
    looking = true;
    const Stopwatch watch;
    while (stalls && !StopScope::Asked() && watch.ElapsedSeconds() < kStall)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OkStatus();
  }};
  waits.random = false;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Enlarged(NumberedImages(20), 1 << 20, /*spec_known=*/false) | waits | Cache{});
  const auto runtime_until = [](const std::atomic<bool>& stop) {
    return Runtime{.kind = Runtime::Kind::kInline, .memory_budget = 8 << 20, .stop = &stop};
  };
  std::atomic<bool> stop_first = false, stop_second = true;
  std::thread first([&] {
    EXPECT_THAT(dataset.Open(runtime_until(stop_first)),
                FailsWith(StatusCode::kCancelled, "cache"));
  });
  while (!looking) std::this_thread::yield();
  EXPECT_THAT(dataset.Open(runtime_until(stop_second)),
              FailsWith(StatusCode::kCancelled, "cache: asked to stop while another pass"));
  stop_first = true;
  first.join();
  stalls = false;
  std::atomic<bool> never = false;
  testing::internal::CaptureStderr();
  const auto opened = dataset.Open(runtime_until(never));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("20 elements take about 21.0 MB"));
  STOKER_EXPECT_OK(opened);
}

TEST(Cache, InMemoryIsChargedToEveryPassForAsLongAsItIsHeld) {
  constexpr int64_t kImage = 1 << 20;
  for (const Dataset& source : {NumberedImages(6), StreamedImages(6)}) {
    const std::shared_ptr<Ledger>& shared = Ledger::Default();
    const int64_t before = shared->bytes();
    Runtime own = Runtime::Inline();
    own.memory_budget = 32 * kImage;
    {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Enlarged(source, kImage, true) | Cache{});
      STOKER_ASSERT_OK(ReadAll(dataset, own));
      STOKER_ASSERT_OK_AND_ASSIGN(const auto later, dataset.Open(own));
      EXPECT_GE(later->GetProfile().peak_memory_bytes, 6 * kImage);
      for (int pass = 0; pass < 2; ++pass) STOKER_ASSERT_OK(ReadAll(dataset, Runtime::Inline()));
      EXPECT_GE(shared->bytes(), before + 6 * kImage);
      EXPECT_LT(shared->bytes(), before + 9 * kImage) << "it is charged once";
    }
    EXPECT_EQ(shared->bytes(), before);
  }
}

TEST(Cache, RefusesWhatDrawsAtRandomAndWhatHasNoEnd) {
  const auto fails = [](const Result<Dataset>& dataset, const char* says) {
    EXPECT_THAT(dataset, FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails(NumberedImages(9) | Shuffle{} | Cache{}, "'shuffle' before it draws at random");
  fails(NumberedImages(9) | Shuffle{} | Batch{} | Cache{}, "put cache before it");
  fails(Result<Dataset>(Mix{.inputs = {NumberedImages(9), NumberedImages(9)}}.Build()) | Cache{},
        "'mix' before it draws at random");
  fails(NumberedImages(9) | IgnoreErrors{.policy = "replace"} | Cache{}, "draws at random");
  fails(NumberedImages(9) | AddNoise() | Cache{}, "set its `random` to false");
  fails(NumberedImages(9) | Repeat{} | Cache{}, "put repeat after cache");
}

}  // namespace stoker::cache_test
