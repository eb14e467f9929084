#include "stoker/data/ops/cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "stoker/data/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/registry.h"
#include "stoker/data/runtime/test_stages.h"
#include "stoker/data/sources/snapshot.h"
#include "stoker/data/testing.h"
#include "stoker/formats/elements/element_file.h"

namespace stoker {
namespace {

using testing::HasSubstr;

const Runtime kRuntimes[] = {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(2),
                             Runtime::Threaded(8)};

// Counts how often it is asked; gives images of another value.
Map Costly(std::atomic<int>& calls) {
  return {.function =
              [&calls](Element& element, Rng&, Scratch& scratch) {
                ++calls;
                Array to = scratch.NewArray(DType::kUInt8, element.arrays[0].shape());
                for (size_t i = 0; i < to.num_bytes(); ++i)
                  to.values<uint8_t>()[i] =
                      static_cast<uint8_t>(255 - element.arrays[0].values<uint8_t>()[i]);
                element.arrays[0] = std::move(to);
                return OkStatus();
              },
          .random = false};
}

// Images that differ in width.
Map Ragged(std::atomic<int>& calls) {
  return {.function =
              [&calls](Element& element, Rng&, Scratch& scratch) {
                ++calls;
                Array to = scratch.NewArray(DType::kUInt8, {1, 4, element.key.index % 5});
                std::ranges::fill(to.values<uint8_t>(), static_cast<uint8_t>(element.key.index));
                element.arrays[0] = std::move(to);
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {1, 4, kUnknownDim}}, {"label", DType::kInt64, {}}}},
          .random = false};
}

// Three epochs in which each element is drawn upon at random behind the cache.
Result<Dataset> Epochs(Result<Dataset> input) {
  if (!input.ok()) return input;
  const bool shuffled = input->node().random_access();
  if (shuffled) input = std::move(input) | Shuffle{};
  if (input->spec().ElementBytes()) input = std::move(input) | AddNoise() | Batch{.size = 7};
  return std::move(input) | Repeat{.count = 3} | Prefetch{};
}

// The same pipelines with a cache and without, over sources of both kinds and elements of both.
struct Case {
  std::string name;
  std::function<Result<Dataset>(std::atomic<int>&)> before;
};
std::vector<Case> Cases() {
  return {
      {"by position", [](auto& calls) { return NumberedImages(60) | Costly(calls); }},
      {"in order", [](auto& calls) { return StreamedImages(60) | Costly(calls); }},
      {"ragged, by position", [](auto& calls) { return NumberedImages(60) | Ragged(calls); }},
      {"ragged, in order", [](auto& calls) { return StreamedImages(60) | Ragged(calls); }},
  };
}

TEST(Cache, GivesTheBytesOfThePipelineWithoutItAndMakesEachElementOnce) {
  for (const Case& c : Cases()) {
    for (const bool on_disk : {false, true}) {
      for (const Runtime& runtime : kRuntimes) {
        SCOPED_TRACE(testing::Message()
                     << c.name << (on_disk ? " on disk " : " in memory ") << runtime.threads);
        const TempDir dir;
        const Cache cache{.path = on_disk ? dir / "cache" : ""};
        std::atomic<int> unused = 0, calls = 0;
        // Another stage in its place, since stages are numbered for the draws behind them.
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

TEST(Cache, OnDiskIsReadByLaterRunsWithoutMakingAnything) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const TempDir dir;
    std::atomic<int> calls = 0;
    const auto run = [&] {
      const Result<Dataset> cached = c.before(calls) | Cache{.path = dir / "cache"};
      return Fingerprint(*ReadAll(*cached, Runtime::Threaded(2)));
    };
    const std::string first = run();
    EXPECT_EQ(calls, 60);
    EXPECT_EQ(run(), first);
    EXPECT_EQ(calls, 60);
  }
}

// Runs `make` over a cache in `path` for a whole epoch, and gives what it said.
std::string RunAndListen(const Result<Dataset>& dataset) {
  testing::internal::CaptureStderr();
  EXPECT_THAT(ReadAll(*dataset, Runtime::Threaded(2)), IsOk());
  return testing::internal::GetCapturedStderr();
}

TEST(Cache, OnDiskIsMadeAnewAndSaysSoWhereWhatItWasMadeFromHasChanged) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(20), dir / "source"));
  std::atomic<int> calls = 0;
  const auto over = [&](const Cache& cache, int64_t take) {
    return Source(Snapshot{.path = dir / "source"}) | Take{.count = take} | Costly(calls) | cache;
  };
  const Cache cache{.path = dir / "cache"};
  EXPECT_EQ(RunAndListen(over(cache, 20)), "");
  EXPECT_EQ(RunAndListen(over(cache, 20)), "");
  EXPECT_EQ(calls, 20);
  // Another option before it.
  EXPECT_THAT(RunAndListen(over(cache, 15)), HasSubstr("was made by another pipeline"));
  EXPECT_EQ(calls, 35);
  EXPECT_EQ(RunAndListen(over(cache, 15)), "");
  // Another key.
  EXPECT_THAT(RunAndListen(over({.path = dir / "cache", .key = "2"}, 15)),
              HasSubstr("it is made anew"));
  EXPECT_EQ(calls, 50);
  // Another file of the same name.
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(20), dir / "source"));
  EXPECT_THAT(RunAndListen(over({.path = dir / "cache", .key = "2"}, 15)), HasSubstr("source: "));
  EXPECT_EQ(calls, 65);
}

TEST(Cache, OnDiskIsNotTrustedWhereItIsDamaged) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  const Cache cache{.path = dir / "cache"};
  EXPECT_EQ(RunAndListen(NumberedImages(20) | Costly(calls) | cache), "");
  const auto size = std::filesystem::file_size(dir / "cache");
  std::filesystem::resize_file(dir / "cache", size - 1);
  EXPECT_THAT(RunAndListen(NumberedImages(20) | Costly(calls) | cache),
              HasSubstr("it is made anew"));
  EXPECT_EQ(calls, 40);
  {
    std::fstream file(dir / "cache", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));  // in a record
    file.put('\x55');
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(20) | Costly(calls) | cache);
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "the file is damaged: remove it"));
}

TEST(Cache, HalfWrittenByAKilledRunIsNeverTrusted) {
  for (const bool by_position : {true, false}) {
    const TempDir dir;
    std::atomic<int> calls = 0;
    const auto make = [&] {
      return (by_position ? NumberedImages(50) : StreamedImages(50)) | Costly(calls) |
             Cache{.path = dir / "cache"};
    };
    const pid_t child = ::fork();
    if (child == 0) {
      const Result<Dataset> dataset = make();
      const auto iterator = dataset->Open(Runtime::Inline());
      for (int i = 0; i < 40; ++i) (void)(*iterator)->Next();
      ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_FALSE(std::filesystem::is_empty(dir.path()));  // the temporary
    EXPECT_FALSE(std::filesystem::exists(dir / "cache"));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                ReadAll(*make(), Runtime::Threaded(2)));
    EXPECT_EQ(got.size(), 50u);
    EXPECT_EQ(calls, 50);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
      names.push_back(entry.path().filename());
    EXPECT_THAT(names, testing::ElementsAre("cache"));  // and the temporary is gone
  }
}

TEST(Cache, SeveralProcessesMakeAndUseOneFile) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  const auto make = [&] {
    return NumberedImages(400) | Costly(calls) | Cache{.path = dir / "cache"} | Shuffle{} |
           Repeat{.count = 3};
  };
  const std::string expected = [&] {
    const TempDir other;
    return Fingerprint(*ReadAll(*(NumberedImages(400) | Costly(calls) |
                                  Cache{.path = other / "cache"} | Shuffle{} | Repeat{.count = 3}),
                                Runtime::Inline()));
  }();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Result<std::vector<Element>> got = ReadAll(*make(), Runtime::Inline());
      ::_exit(got.ok() && Fingerprint(*got) == expected ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  STOKER_EXPECT_OK(ElementFile::Open(dir / "cache"));
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
    EXPECT_THAT(said, HasSubstr("cache: full at 8.4 MB, half of the memory budget"));
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    const int64_t cached = profile.stages[2].peak_memory_bytes;
    EXPECT_LE(cached, kBudget / 2);
    EXPECT_GT(cached, kBudget / 2 - 2 * kImage);
    EXPECT_EQ(calls, by_position ? 20 + 2 * 13 : 60);
  }
}

TEST(Cache, RefusesWhatDrawsAtRandomAndWhatHasNoEnd) {
  const auto fails = [](const Result<Dataset>& dataset, const char* says) {
    EXPECT_THAT(dataset, FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails(NumberedImages(9) | Shuffle{} | Cache{}, "'shuffle' before it draws at random");
  fails(NumberedImages(9) | Shuffle{} | Batch{} | Cache{}, "put cache before it");
  fails(NumberedImages(9) | AddNoise() | Cache{}, "set its `random` to false");
  fails(NumberedImages(9) | Repeat{} | Cache{}, "put repeat behind cache");
}

TEST(Cache, SaysWhereItsFileCannotBeWritten) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(9) | Cache{.path = "/no/such/folder/cache"});
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()).status().message(), HasSubstr("/no/such/folder"));
}

TEST(Snapshot, GivesWhatWasWrittenByPosition) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(25) | Shuffle{} | AddNoise());
  for (const Runtime& runtime : kRuntimes) {
    STOKER_ASSERT_OK(WriteSnapshot(dataset, dir / "s", runtime, {.seed = 4}));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset snapshot, Source(Snapshot{.path = dir / "s"}));
    EXPECT_EQ(snapshot.spec(), dataset.spec());
    EXPECT_EQ(snapshot.cardinality(), Cardinality::Of(25));
    EXPECT_TRUE(snapshot.node().random_access());
    STOKER_ASSERT_OK_AND_ASSIGN(std::vector<Element> written,
                                ReadAll(dataset, Runtime::Inline(), {.seed = 4}));
    for (size_t i = 0; i < written.size(); ++i) written[i].key = {0, static_cast<int64_t>(i)};
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> read, ReadAll(snapshot, runtime));
    EXPECT_EQ(Fingerprint(read), Fingerprint(written));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batched,
                                Result<Dataset>(snapshot) | Shuffle{} | Batch{.size = 4});
    EXPECT_EQ(Fingerprint(*ReadAll(batched, runtime)),
              Fingerprint(*ReadAll(batched, Runtime::Inline())));
  }
}

TEST(Snapshot, ReadsTheFileOfACacheAndRefusesOthers) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cached,
                              StreamedImages(9) | Costly(calls) | Cache{.path = dir / "c"});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> written,
                              ReadAll(cached, Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset snapshot, Source(Snapshot{.path = dir / "c"}));
  EXPECT_EQ(Fingerprint(*ReadAll(snapshot, Runtime::Threaded(2))), Fingerprint(written));
  std::ofstream(dir / "text") << "not elements";
  EXPECT_THAT(Source(Snapshot{.path = dir / "text"}),
              FailsWith(StatusCode::kDataLoss, "this is no element file"));
  EXPECT_THAT(WriteSnapshot(*(NumberedImages(9) | Repeat{}), dir / "s"),
              FailsWith(StatusCode::kInvalidArgument, "has no end"));
}

}  // namespace
}  // namespace stoker
