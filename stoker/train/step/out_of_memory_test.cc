#include "stoker/train/step/out_of_memory.h"

#include "stoker/base/testing.h"

namespace stoker::out_of_memory_test {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;

// As c10's CUDACachingAllocator and CPUAllocator word it (torch 2.11).
constexpr const char* kCuda =
    "torch: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 "
    "GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.50 GiB "
    "memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 5.00 GiB is "
    "reserved by "
    "PyTorch but unallocated.";
constexpr const char* kCpu =
    "torch: [enforce fail at alloc_cpu.cpp:127] data. DefaultCPUAllocator: can't allocate memory: "
    "you tried to allocate 4194304 bytes. Error code 12 (Cannot allocate memory)";

TEST(OutOfMemory, ReadsWhatTheAllocatorsTell) {
  EXPECT_EQ(
      ParseShortage(kCuda),
      (MemoryShortage{.wanted = 5 * kGiB / 2, .free = 3 * kGiB / 2, .in_use = 155 * kGiB / 2}));
  EXPECT_EQ(ParseShortage(kCpu), (MemoryShortage{.wanted = 4 * kMiB, .free = {}, .in_use = {}}));
  EXPECT_FALSE(ParseShortage("out of memory; use a smaller batch"));
  EXPECT_FALSE(ParseShortage("Tried to allocate much"));
  EXPECT_FALSE(ParseShortage("Tried to allocate 3 parsecs"));
}

TEST(OutOfMemory, EstimatesTheBatchThatFits) {
  // 10 fixed, 110 were needed by 100 samples, 60 are there: half of what grows with the batch.
  const MemoryShortage shortage{.wanted = 60, .free = 10, .in_use = 50};
  EXPECT_EQ(BatchThatFits(shortage, 100, 10), 48);
  EXPECT_EQ(BatchThatFits(shortage, 10, 10), 5);
  EXPECT_EQ(BatchThatFits(shortage, 1, 10), 0);
  EXPECT_EQ(BatchThatFits(shortage, 100, 60), 0);
  EXPECT_EQ(BatchThatFits({.wanted = 1, .free = 10, .in_use = 50}, 100, 10), 96)
      << "fragmented: it did not fit although enough was free";
  EXPECT_FALSE(BatchThatFits({.wanted = 60, .free = {}, .in_use = 50}, 100, 10));
}

// 4 MiB wanted, 3 of 13 free; 2 stay as they are whatever the batch: 11 of 12 would be there.
TEST(OutOfMemory, OnTheCpuTheBatchThatFitsIsToldByTheMachinesMemory) {
  const HostMemory host{.limit = 13 * kMiB, .in_use = 10 * kMiB};
  EXPECT_THAT(ExplainOutOfMemory(ResourceExhausted("{}", kCpu), 100, 2 * kMiB, host),
              FailsWith(StatusCode::kResourceExhausted,
                        "4.0 MiB more were wanted, 3.0 MiB were free; a batch of at most about 88 "
                        "would fit"));
  EXPECT_THAT(ExplainOutOfMemory(ResourceExhausted("{}", kCpu), 96, 20 * kMiB, host),
              FailsWith(StatusCode::kResourceExhausted, "not even one sample fits"));
}

TEST(OutOfMemory, WhatTheMachinesMemoryDoesNotExplainIsNotExplainedByIt) {
  const MemoryShortage shortage{.wanted = 4 * kMiB, .free = {}, .in_use = {}};
  EXPECT_EQ(CompleteOnHost(shortage, {.limit = 14 * kMiB, .in_use = 10 * kMiB}), shortage);
  const MemoryShortage of_device{.wanted = 4 * kMiB, .free = 1, .in_use = 2};
  EXPECT_EQ(CompleteOnHost(of_device, {.limit = 13 * kMiB, .in_use = 10 * kMiB}), of_device);
}

TEST(OutOfMemory, TheMachinesMemoryIsThatOfThisProcess) {
  const HostMemory host = HostMemoryNow();
  EXPECT_GT(host.in_use, kMiB);
  EXPECT_GT(host.limit, host.in_use);
}

TEST(OutOfMemory, SaysHowMuchWasMissingAndWhatToDo) {
  EXPECT_THAT(ExplainOutOfMemory(ResourceExhausted("{}", kCuda), 256, 20 * kGiB),
              FailsWith(StatusCode::kResourceExhausted,
                        "with a batch of 256 samples: 2.50 GiB more were wanted, 1.50 GiB were "
                        "free; a batch of at most about 248 would fit"));
  EXPECT_THAT(
      ExplainOutOfMemory(ResourceExhausted("{}", kCpu), 64, 0),
      FailsWith(StatusCode::kResourceExhausted, "4.0 MiB more were wanted; try a batch of 32"));
  EXPECT_THAT(ExplainOutOfMemory(ResourceExhausted("out of memory"), 1, 0),
              FailsWith(StatusCode::kResourceExhausted, "try a batch of 1"));
}

}  // namespace stoker::out_of_memory_test
