// GradientExchange against c10d's Reducer, which is what DistributedDataParallel sums with.
#include <ATen/Functions.h>
#include <torch/types.h>

#include <string>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>
#include <unordered_map>

#include "stoker/base/testing.h"
#include "stoker/cluster/gloo_internal.h"
#include "stoker/cluster/ranks_testing.h"
#include "stoker/train/step/gradient_exchange.h"

namespace stoker::gradient_exchange_oracle_test {

using Buckets = std::vector<std::vector<size_t>>;
using Names = std::unordered_map<size_t, std::string>;
using c10d::ProcessGroup, c10d::ProcessGroupGloo;

// Weights of three layers, the same on every rank.
std::vector<at::Tensor> Weights() {
  torch::manual_seed(1);
  std::vector<at::Tensor> weights;
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{37, 20}, {50, 37}, {7, 50}})
    weights.push_back(at::randn({rows, columns}).requires_grad_(true));
  return weights;
}

// What a rank's step computes from rows of its own.
at::Tensor LossOf(const std::vector<at::Tensor>& weights, int64_t rank, int64_t step) {
  torch::manual_seed(static_cast<uint64_t>(100 * step + rank));
  at::Tensor value = at::randn({16, 20});
  for (const at::Tensor& layer : weights) value = at::tanh(value.matmul(layer.t()));
  return value.square().sum();
}

c10::intrusive_ptr<ProcessGroup> GlooOf(const std::string& store_file, int64_t rank,
                                        int64_t world) {
  const auto store = c10::make_intrusive<c10d::FileStore>(store_file, static_cast<int>(world));
  const auto options = ProcessGroupGloo::Options::create();
  options->devices.push_back(ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  auto group =
      c10::make_intrusive<ProcessGroup>(store, static_cast<int>(rank), static_cast<int>(world));
  group->setDefaultBackend(ProcessGroup::BackendType::GLOO);
  group->setBackend(c10::DeviceType::CPU, ProcessGroup::BackendType::GLOO,
                    c10::make_intrusive<ProcessGroupGloo>(store, static_cast<int>(rank),
                                                          static_cast<int>(world), options));
  return group;
}

// The constructor has had more arguments since torch 2.10.
template <typename Reducer = c10d::Reducer>
std::shared_ptr<Reducer> MakeReducer(const std::vector<at::Tensor>& weights,
                                     const c10::intrusive_ptr<ProcessGroup>& group) {
  const Buckets buckets = {{2, 1}, {0}};
  const std::vector<bool> sparse(weights.size(), false);
  constexpr int64_t kBytes = 1 << 20;
  if constexpr (std::is_constructible_v<Reducer, std::vector<at::Tensor>, Buckets,
                                        c10::intrusive_ptr<ProcessGroup>, std::vector<bool>,
                                        int64_t, bool, bool, Names, int64_t, bool, bool,
                                        std::vector<int64_t>>)
    return std::make_shared<Reducer>(weights, buckets, group, sparse, kBytes, false, true, Names{},
                                     kBytes, false, false, std::vector<int64_t>{});
  else
    return std::make_shared<Reducer>(weights, buckets, group, sparse, kBytes, false, true, Names{},
                                     kBytes);
}

class AgainstReducer : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, AgainstReducer, testing::Values(2, 3, 4));

// The Reducer makes means, and its buckets hold nothing but gradients, so that with three ranks or
// more Gloo adds some values up in another order.
TEST_P(AgainstReducer, GivesTheSameGradientsInEachStep) {
  const int64_t world = GetParam();
  const TempDir folder;
  const std::string store = folder / "store";
  AsRanks(world, [&](Group& group) {
    const int64_t rank = group.membership().rank;
    const std::vector<at::Tensor> ours = Weights(), theirs = Weights();
    GradientExchange exchange(group, ours, 1 << 20);
    const auto reducer = MakeReducer(theirs, GlooOf(store, rank, world));
    for (int64_t step = 1; step <= 3; ++step) {
      exchange.Begin(step);
      LossOf(ours, rank, step).backward();
      STOKER_ASSERT_OK(exchange.Finish(step, at::zeros({1}, at::kDouble)));
      reducer->prepare_for_backward({});
      LossOf(theirs, rank, step).backward();
      for (size_t i = 0; i < ours.size(); ++i) {
        const at::Tensor sum = theirs[i].grad() * world;
        if (world == 2)
          EXPECT_TRUE(at::equal(ours[i].grad(), sum)) << "step " << step << ", weights " << i;
        else
          EXPECT_TRUE(at::allclose(ours[i].grad(), sum, 1e-5, 1e-5))
              << "step " << step << ", weights " << i;
        ours[i].mutable_grad().reset();
        theirs[i].mutable_grad().zero_();
      }
    }
    STOKER_ASSERT_OK(group.Barrier("the end"));
  });
}

}  // namespace stoker::gradient_exchange_oracle_test
