// Chunks that all threads of a ReadAhead make together.
#include <latch>
#include <numeric>
#include <thread>

#include "stoker/data/core/shared_loops.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::together_test {

// `batches` elements whose parts are made in a shared loop, by `make_part`.
class PartsNode final : public DatasetNode {
 public:
  using MakePart = std::function<void(int64_t position, int64_t part)>;

  PartsNode(int64_t batches, MakePart make_part, int64_t part_bytes, int64_t parts)
      : DatasetNode("parts", {{{"x", DType::kUInt8, {parts, part_bytes}}}},
                    Cardinality::Of(batches), {}),
        make_part_(std::move(make_part)),
        part_bytes_(part_bytes),
        parts_(parts) {}

  bool random_access() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("parts: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Array array = scratch.NewArray(DType::kUInt8, {parts_, part_bytes_});
    ForEachShared(parts_, context.stats(*this), [&](int64_t part) {
      make_part_(position, part);
      std::fill_n(array.data() + part * part_bytes_, part_bytes_,
                  static_cast<std::byte>(10 * position + part));
    });
    return Element{.key = {context.epoch(), position}, .arrays = {std::move(array)}};
  }

 private:
  const MakePart make_part_;
  const int64_t part_bytes_, parts_;
};

constexpr int64_t kParts = 8, kPartBytes = 128 << 10;

Dataset Parts(int64_t batches, PartsNode::MakePart make_part, int64_t part_bytes = kPartBytes,
              int64_t parts = kParts) {
  return Dataset(std::make_shared<PartsNode>(batches, std::move(make_part), part_bytes, parts));
}

TEST(Together, AllThreadsMakeTheOnlyElementThereIs) {
  constexpr int kThreads = 4;
  std::latch all_at_it(kThreads);
  const Dataset dataset = Parts(1, [&](int64_t, int64_t part) {
    if (part < kThreads) all_at_it.arrive_and_wait();  // ends only where each has a thread
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const auto elements, ReadAll(dataset, Runtime::Threaded(kThreads)));
  EXPECT_EQ(elements.size(), 1u);
}

// Of pictures on a server, the first batch alone may take minutes on one thread.
TEST(Together, ThreadsAreAddedWhileTheOnlyElementIsStillBeingMade) {
  constexpr int kWanted = 4;
  std::atomic<int> at_once = 0, most = 0;
  const Dataset dataset = Parts(
      1,
      [&](int64_t, int64_t) {
        if (most >= kWanted) return;
        most = std::max(most.load(), ++at_once);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        --at_once;
      },
      /*part_bytes=*/1, /*parts=*/6000);
  const PipelineCpuScope one(1);
  STOKER_ASSERT_OK(ReadAll(dataset, Runtime::Threaded()));
  EXPECT_GE(most, kWanted);
}

TEST(Together, ThreadedGivesTheBytesOfInline) {
  const Dataset dataset = Parts(20, [](int64_t, int64_t) {});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(dataset, Runtime::Inline()));
  for (const int threads : {1, 2, 5, 0}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(dataset, Runtime::Threaded(threads)));
    EXPECT_EQ(Fingerprint(got), Fingerprint(expected)) << threads;
  }
}

TEST(Together, FewElementsAreHeldWhateverTheThreads) {
  const Dataset dataset = Parts(
      1 << 30, [](int64_t, int64_t) {}, 2 << 20);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(8)));
  std::optional<int64_t> depth;
  while (!depth) {  // until the tuner has looked at it
    STOKER_ASSERT_OK(iterator->Next());
    for (const Decision& decision : iterator->decisions().decisions()) {
      if (decision.what == "depth" && decision.from > 0) depth = decision.to;
    }
  }
  EXPECT_EQ(*depth, 1 + 4);  // one being made, and 64 MiB; not one for each thread and as many more
}

TEST(Together, GoesOnWithinABudgetOfOneElement) {
  const Dataset dataset = Parts(10, [](int64_t, int64_t) {});
  Runtime runtime = Runtime::Threaded(3);
  runtime.memory_budget = kParts * kPartBytes;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto elements, ReadAll(dataset, runtime));
  EXPECT_EQ(elements.size(), 10u);
}

TEST(Together, WhatARoundThrowsIsTheElementsError) {
  const Dataset dataset = Parts(5, [](int64_t position, int64_t part) {
    if (position == 2 && part == 3) throw std::runtime_error("part 3");
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  for (int i = 0; i < 2; ++i) STOKER_ASSERT_OK(iterator->Next());
  EXPECT_THAT(iterator->Next().status(), FailsWith(StatusCode::kInternal, "part 3"));
}

TEST(Together, MayBeDestroyedWhileElementsAreBeingMade) {
  for (int taken = 0; taken < 6; ++taken) {
    const Dataset dataset = Parts(
        100, [](int64_t, int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(3)));
    for (int i = 0; i < taken; ++i) STOKER_ASSERT_OK(iterator->Next());
  }
}

}  // namespace stoker::together_test
