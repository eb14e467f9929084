#include "stoker/device/torch_denormals.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <set>

#include "stoker/base/denormals.h"
#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_generator.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/options/registry.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_threads.h"

namespace stoker::torch_denormals_test {

constexpr float kDenormal = 1e-40f;

// Thread count and modes of before come back with the test's end.
class TorchDenormals : public testing::Test {
 protected:
  TorchDenormals() { at::set_num_threads(3); }
  ~TorchDenormals() override { at::set_num_threads(before_); }

  static std::set<bool> ThreadsFlush() {
    Mutex mutex;
    std::set<bool> found;
    OnEachTorchThread([&] {
      const MutexLock lock(mutex);
      found.insert(FloatMode() == WithDenormalsFlushed(FloatMode(), true));
    });
    return found;
  }

 private:
  const int before_ = at::get_num_threads();
};

TEST_F(TorchDenormals, AreFlushedOnEveryThreadThatComputes) {
  OnEachTorchThread([] {});  // the workers are there before
  const TorchFloatModes modes;
  FlushTorchDenormals(true);
  EXPECT_EQ(ThreadsFlush(), std::set{true});
  const at::Tensor many = at::full({1 << 20}, kDenormal);
  EXPECT_EQ((many * 1e10).count_nonzero().item<int64_t>(), 0);
}

TEST_F(TorchDenormals, AreFlushedToOnThreadsThatStartLater) {
  const TorchFloatModes modes;
  FlushTorchDenormals(true);
  for (const int threads : {1, 2, 5}) {
    at::set_num_threads(threads);
    EXPECT_EQ(ThreadsFlush(), std::set{true}) << threads;
  }
}

TEST_F(TorchDenormals, AreFlushedInABackwardPass) {
  const TorchFloatModes modes;
  FlushTorchDenormals(true);
  const at::Tensor x = at::full({1 << 20}, 1e-30f).set_requires_grad(true);
  (x * 1e-10).sum().backward(torch::tensor(1e-30f));  // a gradient of 1e-40
  EXPECT_EQ(x.grad().count_nonzero().item<int64_t>(), 0);
}

TEST_F(TorchDenormals, EachThreadHasItsModeOfBeforeBackAlsoWhereMoreHaveStarted) {
  OnEachTorchThread([] {});
  for (const bool flushed : {false, true}) {
    const TorchFloatModes outer;
    FlushTorchDenormals(flushed);
    {
      const TorchFloatModes inner;
      FlushTorchDenormals(!flushed);
      at::set_num_threads(5);
      EXPECT_EQ(ThreadsFlush(), std::set{!flushed});
    }
    EXPECT_EQ(ThreadsFlush(), std::set{flushed});
    at::set_num_threads(3);
  }
  EXPECT_EQ(ThreadsFlush(), std::set{false});
}

// Ten samples of one denormal each, which the pipeline must not lose.
Result<std::unique_ptr<DevicePrefetcher>> OpenDenormals(const Runtime& runtime, int depth) {
  const Spec spec{{{.name = "image", .dtype = DType::kFloat32, .shape = {1}}}};
  const Dataset samples = FromGenerator(spec, [](uint64_t) {
    return [n = 0]() mutable -> Result<std::optional<Element>> {
      if (n++ == 10) return std::nullopt;
      volatile float denormal = 2 * kDenormal;  // volatile: computed here and now
      return Element{.key = {},
                     .arrays = {Array::Of<float>(std::vector<float>{denormal / 2}, {1})}};
    };
  });
  STOKER_ASSIGN_OR_RETURN(const Dataset batches, samples | Batch{.size = 5});
  FeederOptions options;
  options.targets.clear();
  return DevicePrefetcher::Open(batches, runtime, {}, options, depth);
}

TEST_F(TorchDenormals, ThePipelineKeepsThemWhicheverThreadsItRunsOn) {
  const TorchFloatModes modes;
  FlushTorchDenormals(true);
  for (const auto& [runtime, depth] :
       {std::pair{Runtime::Inline(), 0}, {Runtime::Threaded(2), 0}, {Runtime::Inline(), 2}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, OpenDenormals(runtime, depth));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, batches->Next());
    ASSERT_TRUE(batch.has_value());
    const DenormalScope kept(/*flushed=*/false);
    EXPECT_EQ(batch->input.only()[0].item<float>(), kDenormal) << depth;
  }
}

}  // namespace stoker::torch_denormals_test
