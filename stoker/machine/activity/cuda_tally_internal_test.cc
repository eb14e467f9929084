#include "stoker/machine/activity/cuda_tally_internal.h"

#include "stoker/base/testing.h"

namespace stoker::cuda_tally_internal_test {

KernelRecord Kernel(uint64_t start, uint64_t end, const char* name = "elementwise",
                    uint32_t device = 0) {
  return {.kind = kConcurrentKernel,
          .unused = {},
          .start = start,
          .end = end,
          .completed = 0,
          .device = device,
          .more = {},
          .name = name};
}
CopyRecord Copy(uint8_t kind, uint8_t source, uint64_t bytes, uint64_t start, uint64_t end) {
  return {.kind = kMemcpy,
          .copy_kind = kind,
          .source = source,
          .target = 0,
          .flags = 0,
          .bytes = bytes,
          .start = start,
          .end = end,
          .device = 0};
}
template <typename T>
void Add(Tally& tally, const T& record) {
  tally.Add(reinterpret_cast<const Record&>(record));
}

// The names are those that CUPTI and torch.profiler show on an NVIDIA H200, and cuBLAS's of other
// GPUs.
TEST(KernelNames, SayWhatAKernelComputesIn) {
  for (const char* const name : {"cutlass_80_simt_sgemm_64x64_8x5_nt_align1",
                                 "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8",
                                 "_Z17wgrad_alg0_engineIfLi128ELi5E", "volta_sgemm_128x64_nn",
                                 "_Z31pointwise_mult_and_sum_complexI6float2"})
    EXPECT_EQ(KindOf(name), KernelKind::kFloat32) << name;
  for (const char* const name : {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32",
                                 "cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4"})
    EXPECT_EQ(KindOf(name), KernelKind::kTf32) << name;
  for (const char* const name :
       {"sm90_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc",
        "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn",
        "cutlass_75_tensorop_s1688gemm_f16_128x128_nn_align8",
        "nvjet_sm90_tst_64x64_64x13_2x1_v_bz_bias_TNT",
        "_ZN2at6native29vectorized_elementwise_kernelILi4E", "_Z11regular_fftILj512E", ""})
    EXPECT_EQ(KindOf(name), KernelKind::kOther) << name;
  EXPECT_EQ(KindOf("_ZN5cudnn19engines_precompiled16nchwToNhwcKernelIfff"), KernelKind::kRelayout);
  EXPECT_EQ(KindOf("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            KernelKind::kCollective);
  EXPECT_EQ(KindOf(nullptr), KernelKind::kOther);
}

TEST(CudaTally, AddsUpTheTimeThatKernelsAndCopiesCoverInWhateverOrderTheyCome) {
  CudaCounters counters;
  auto tally = std::make_unique<Tally>(counters);
  Add(*tally, Kernel(500, 600));
  Add(*tally, Kernel(100, 300));
  Add(*tally, Kernel(200, 350));                              // overlaps
  Add(*tally, Kernel(120, 130));                              // lies within
  Add(*tally, Copy(kHostToDevice, kPageable, 10, 340, 400));  // ends later
  Add(*tally, Kernel(0, 50, "elementwise", 3));
  EXPECT_EQ(counters.kernels, 0);  // not before it is published
  tally->Publish(1000);
  EXPECT_EQ(counters.busy_ns[0], 100 + 300);
  EXPECT_EQ(counters.computing_ns[0], 100 + 250);
  EXPECT_EQ(counters.busy_ns[3], 50);
  EXPECT_EQ(counters.kernels, 5);
  EXPECT_EQ(counters.kernel_ns, 100 + 200 + 150 + 10 + 50);
  EXPECT_EQ(counters.windows, 1);
  EXPECT_EQ(counters.counted_ns, 1000);
  // The next window is for itself, even if its times are earlier.
  Add(*tally, Kernel(10, 20));
  tally->Publish(500);
  EXPECT_EQ(counters.busy_ns[0], 100 + 300 + 10);
  EXPECT_EQ(counters.counted_ns, 1500);
}

TEST(CudaTally, TellsCopiesApartAndKeepsCollectivesOutOfTheTimeThatIsBusy) {
  CudaCounters counters;
  auto tally = std::make_unique<Tally>(counters);
  Add(*tally, Copy(kHostToDevice, kPageable, 1000, 0, 10));
  Add(*tally, Copy(kHostToDevice, 2, 2000, 20, 25));
  Add(*tally, Copy(kDeviceToHost, 3, 4, 30, 31));
  Add(*tally, Copy(kDeviceToHost, 3, kSmallCopy + 1, 40, 42));
  Add(*tally, Kernel(50, 90, "ncclDevKernel_AllReduce"));
  Add(*tally, WaitRecord{.kind = kSynchronization, .type = 3, .start = 5, .end = 9});
  Add(*tally,
      WaitRecord{.kind = kSynchronization, .type = kStreamWaitsForEvent, .start = 5, .end = 900});
  tally->AddDropped(7);
  tally->Publish(100);
  EXPECT_EQ(counters.from_pageable.bytes, 1000);
  EXPECT_EQ(counters.from_pageable.ns, 10);
  EXPECT_EQ(counters.from_pinned.bytes, 2000);
  EXPECT_EQ(counters.to_host.count, 2);
  EXPECT_EQ(counters.to_host_small, 1);
  EXPECT_EQ(counters.collective_ns, 40);
  EXPECT_EQ(counters.kernels, 0);
  EXPECT_EQ(counters.busy_ns[0], 10 + 5 + 1 + 2);
  EXPECT_EQ(counters.wait_ns, 4);
  EXPECT_EQ(counters.dropped, 7);
}

TEST(CudaTally, CountsWhatItHasNoRoomFor) {
  CudaCounters counters;
  auto tally = std::make_unique<Tally>(counters);
  for (uint64_t i = 0; i < kMostIntervals + 3; ++i) Add(*tally, Kernel(10 * i, 10 * i + 5));
  tally->Publish(1);
  EXPECT_EQ(counters.dropped, 3);
  EXPECT_EQ(counters.busy_ns[0], 5 * static_cast<int64_t>(kMostIntervals));
}

}  // namespace stoker::cuda_tally_internal_test
