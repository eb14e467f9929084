#include "stoker/data/core/read_singly.h"

#include <atomic>
#include <thread>

#include "stoker/data/core/shared_loops.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/runtime/read_ahead.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::read_singly_test {

using ReadOne = std::function<Status(int64_t position)>;

constexpr double kPatience = 60;  // seconds

Status Sleep(int64_t ns = 2 * kSlowReadNs) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  return OkStatus();
}

// The numbers 0, 1, ..., as lists of one, of a length that is not known before.
class NumbersNode final : public DatasetNode {
 public:
  NumbersNode(int64_t count, ReadOne read)
      : DatasetNode("numbers", {{{"x", DType::kInt64, {-1}}}}, Cardinality::Of(count), {}),
        read_(std::move(read)) {}

  bool random_access() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("numbers: are read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_RETURN_IF_ERROR(read_(position));
    Scratch scratch = context.scratch(*this);
    Array array = scratch.NewArray(DType::kInt64, {1});
    array.values<int64_t>()[0] = position;
    return Element{.key = {context.epoch(), position}, .arrays = {std::move(array)}};
  }

 private:
  const ReadOne read_;
};

Dataset Numbers(int64_t count, ReadOne read) {
  return Dataset(std::make_shared<NumbersNode>(count, std::move(read)));
}

// Every stage that puts elements together which it reads one by one.
std::vector<Result<Dataset>> Batches(const Dataset& numbers, int64_t size) {
  const Map first = {.function =
                         [](Element& element, Rng&, Scratch& scratch) {
                           Array array = scratch.NewArray(DType::kInt64, {1});
                           array.values<int64_t>()[0] = element.arrays[0].values<int64_t>()[0];
                           element.arrays[0] = std::move(array);
                           return OkStatus();
                         },
                     .output = Spec{{{"x", DType::kInt64, {1}}}}};
  return {Result(numbers) | PaddedBatch{.size = size},
          Result(numbers) | Batch{.size = size, .ragged = true},
          Result(numbers) | first | Batch{.size = size}};
}

// Waits until so many have come; false if they do not.
bool CameTogether(std::atomic<int>& came, int wanted) {
  ++came;
  const Stopwatch watch;
  while (came < wanted && watch.ElapsedSeconds() < kPatience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return came >= wanted;
}

TEST(ReadSingly, AllThreadsReadWhatComesSlowlyForTheOnlyBatch) {
  constexpr int kThreads = 4;
  for (size_t stage = 0; stage < 3; ++stage) {
    std::atomic<int> came = 0;
    std::atomic<bool> together = true;
    const Dataset numbers = Numbers(12, [&](int64_t position) {
      if (position == 0) return Sleep();  // shows that they are slow
      if (position <= kThreads && !CameTogether(came, kThreads)) together = false;
      return OkStatus();
    });
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, Batches(numbers, 12)[stage]);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto elements, ReadAll(batches, Runtime::Threaded(kThreads)));
    EXPECT_EQ(elements.size(), 1u);
    EXPECT_TRUE(together) << batches.ToString();
  }
}

TEST(ReadSingly, GivesTheBytesOfInlineAlsoWhereElementsFail) {
  const Dataset numbers = Numbers(90, [](int64_t position) {
    if (position % 7 == 3) return DataLoss("number {} is bad", position);
    return position < 60 ? Sleep() : OkStatus();
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset replaced,
                              Result(numbers) | IgnoreErrors{.policy = "replace", .limit = 90});
  for (const Result<Dataset>& made : Batches(replaced, 8)) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, made);
    SCOPED_TRACE(batches.ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(batches, Runtime::Inline()));
    for (const int threads : {1, 2, 5, 0}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(batches, Runtime::Threaded(threads)));
      EXPECT_EQ(Fingerprint(got), Fingerprint(expected)) << threads;
    }
  }
}

int64_t ErrorsOf(const Iterator& iterator, std::string_view stage) {
  int64_t errors = 0;
  for (const StageProfile& profile : iterator.GetProfile().stages) {
    if (profile.name == stage) errors += profile.errors;
  }
  return errors;
}

TEST(ReadSingly, ReportsTheFirstElementThatFailsAndCountsItOnce) {
  const Dataset numbers = Numbers(32, [](int64_t position) {
    if (position == 21 || position == 27) return DataLoss("number {} is bad", position);
    if (position == 24) throw std::runtime_error("number 24 throws");
    return Sleep();
  });
  for (const Result<Dataset>& made : Batches(numbers, 16)) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, made);
    SCOPED_TRACE(batches.ToString());
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(3)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(runtime));
      STOKER_ASSERT_OK(iterator->Next());
      EXPECT_THAT(iterator->Next().status(), FailsWith(StatusCode::kDataLoss, "number 21 is bad"));
      EXPECT_EQ(ErrorsOf(*iterator, "numbers"), 1);
    }
  }
}

TEST(ReadSingly, WhatAReadThrowsIsTheBatchsError) {
  const Dataset numbers = Numbers(16, [](int64_t position) {
    if (position == 9) throw std::runtime_error("number 9 throws");
    return Sleep();
  });
  for (const Result<Dataset>& made : Batches(numbers, 16)) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, made);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(Runtime::Threaded(3)));
    EXPECT_THAT(iterator->Next().status(), FailsWith(StatusCode::kInternal, "number 9 throws"));
  }
}

TEST(ReadSingly, CountsReplacedElementsAsInlineDoes) {
  const Dataset numbers = Numbers(90, [](int64_t position) {
    if (position % 7 == 3) return DataLoss("number {} is bad", position);
    return Sleep();
  });
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset batches,
      Result(numbers) | IgnoreErrors{.policy = "replace", .limit = 90} | PaddedBatch{.size = 8});
  std::vector<int64_t> replaced;
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(3)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(runtime));
    STOKER_ASSERT_OK(ReadAll(*iterator));
    replaced.push_back(0);
    for (const StageProfile& stage : iterator->GetProfile().stages)
      replaced.back() += stage.replaced;
  }
  EXPECT_GT(replaced[0], 0);
  EXPECT_EQ(replaced[1], replaced[0]);
}

// The thread that shares them out, and another: with one thread each, 64 reads would be tried.
TEST(ReadSingly, AServerThatIsAwayIsNotAskedForEachElement) {
  std::atomic<int> asked = 0;
  const Dataset numbers = Numbers(64, [&](int64_t position) {
    if (position == 0) return Sleep();
    ++asked;
    STOKER_RETURN_IF_ERROR(Sleep());
    return Unavailable("the server is away");
  });
  for (const Result<Dataset>& made : Batches(numbers, 64)) {
    asked = 0;
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, made);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(Runtime::Threaded(2)));
    EXPECT_THAT(iterator->Next().status(), FailsWith(StatusCode::kUnavailable, "is away"));
    EXPECT_LE(asked, 2);
  }
}

TEST(ReadSingly, AStopEndsABatchBetweenItsReads) {
  std::atomic<int> asked = 0;
  const Dataset numbers = Numbers(1 << 20, [&](int64_t) {
    ++asked;
    return Sleep();
  });
  for (const Result<Dataset>& made : Batches(numbers, 1 << 16)) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, made);
    for (const int wanted : {1, 20}) {  // before and after threads share the reads
      asked = 0;
      {
        STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(Runtime::Threaded(2)));
        STOKER_ASSERT_OK(StartAhead(*iterator));
        const Stopwatch watch;
        while (asked < wanted) ASSERT_LT(watch.ElapsedSeconds(), kPatience);
      }
      EXPECT_LT(asked, 1 << 16);  // a batch would take minutes
    }
  }
}

// One batch in eight waits for its disk: as many as before are made at a time.
TEST(ReadSingly, AFewSlowBatchesDoNotChangeHowManyAreMadeAtATime) {
  constexpr int kThreads = 16, kLarge = 4 << 20;
  const auto read = [](int64_t position) { return position % 64 < 8 ? Sleep() : OkStatus(); };
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches,
                              Result(Numbers(8 * 200, read)) |
                                  Map{.function =
                                          [](Element& element, Rng&, Scratch& scratch) {
                                            element.arrays[0] =
                                                scratch.NewArray(DType::kUInt8, {kLarge});
                                            return OkStatus();
                                          },
                                      .output = Spec{{{"x", DType::kUInt8, {kLarge}}}}} |
                                  Batch{.size = 8});
  Runtime runtime = Runtime::Threaded(kThreads);
  runtime.memory_budget = int64_t{8} << 30;
  const Stopwatch watch;
  for (bool kept = false; !kept;) {
    // By chance an interval of the tuner may have slow ones only.
    ASSERT_LT(watch.ElapsedSeconds(), kPatience) << "fewer are made at a time in each pass";
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(runtime));
    while (true) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, iterator->Next());
      if (!batch) break;
    }
    kept = std::ranges::none_of(iterator->decisions().decisions(), [](const Decision& decision) {
      return decision.what == "depth" && decision.from > 0 && decision.to < kThreads;
    });
  }
}

// A chunk of several batches: 16 reads at a time are more than 4 batches.
TEST(ReadSingly, SharesTheReadsOfABatchRatherThanBatches) {
  constexpr int kThreads = 8;
  std::atomic<int> came = 0;
  std::atomic<bool> together = true;
  const Dataset numbers = Numbers(2 * kThreads, [&](int64_t position) {
    // The first of each batch shows that they are slow; all others of the first can be read at
    // once.
    if (position % kThreads == 0) return Sleep();
    if (position < kThreads && !CameTogether(came, kThreads - 1)) together = false;
    return OkStatus();
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, Batches(numbers, kThreads)[2]);
  const auto pass = *Pass::Create(batches, Runtime::Inline(), {.seed = 1});
  const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/true);
  std::atomic<bool> over = false;
  SharedLoops loops([] {});
  std::vector<std::jthread> helpers;
  for (int i = 1; i < kThreads; ++i) {
    helpers.emplace_back([&] {
      while (!over) {
        loops.Help();
        std::this_thread::yield();
      }
    });
  }
  {
    const SharedLoops::Member member(loops, 0);
    STOKER_EXPECT_OK(batches.node().ReadRows(std::vector<int64_t>{0, 1}, context));
  }
  over = true;
  EXPECT_TRUE(together);
}

// The first batch may be quick because a `cache` holds it, and the next one slow.
TEST(ReadSingly, ThreadsAreAddedWhileASlowBatchIsMadeAfterAQuickOne) {
  constexpr int kSize = 1500, kWanted = 4;
  std::atomic<int> at_once = 0, most = 0;
  const Dataset numbers = Numbers(2 * kSize, [&](int64_t position) {
    if (position < kSize || most >= kWanted) return OkStatus();
    most = std::max(most.load(), ++at_once);
    STOKER_RETURN_IF_ERROR(Sleep(10'000'000));
    --at_once;
    return OkStatus();
  });
  const PipelineCpuScope one(1);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, Batches(numbers, kSize)[0]);
  STOKER_ASSERT_OK(ReadAll(batches, Runtime::Threaded()));
  EXPECT_GE(most, kWanted);
}

// As in the epochs after the first behind a `cache`.
TEST(ReadSingly, SharesNothingOnceReadsAreQuick) {
  const auto read_as_member = [](const ReadOne& read, SharedLoops& loops) {
    const Dataset numbers = Numbers(4, read);
    const auto pass = *Pass::Create(numbers, Runtime::Inline(), {.seed = 1});
    const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/true);
    const SharedLoops::Member member(loops, 0);
    STOKER_EXPECT_OK(ReadElementsSingly(
        numbers.node(), 4, context,
        [&](int64_t i, const ReadContext& how) { return numbers.node().Read(i, how); },
        [](const Element&) { return OkStatus(); }));
    return member.had_loops();
  };
  SharedLoops loops([] {});
  EXPECT_TRUE(read_as_member([](int64_t) { return Sleep(); }, loops));
  const auto at_once = [](int64_t) { return OkStatus(); };
  const Stopwatch watch;  // a thread may lose its CPU while it reads
  while (read_as_member(at_once, loops)) ASSERT_LT(watch.ElapsedSeconds(), kPatience);
}

}  // namespace stoker::read_singly_test
