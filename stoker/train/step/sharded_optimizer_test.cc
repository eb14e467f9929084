#include "stoker/train/step/sharded_optimizer.h"

#include <ATen/Functions.h>

#include <numeric>

#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"
#include "stoker/train/optimizers/adam.h"

namespace stoker::sharded_optimizer_test {

// Of several sizes and layouts.
TrainedParameters Parameters() {
  TrainedParameters parameters;
  const std::vector<std::vector<int64_t>> shapes = {{40}, {3, 5, 2, 2}, {7}, {30, 9}, {1}};
  for (const std::vector<int64_t>& shape : shapes) {
    const int64_t size =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    at::Tensor tensor = at::arange(size, at::kFloat).mul_(0.01).view(shape);
    if (shape.size() == 4) tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
    parameters.push_back({.name = fmt::format("layer{}.weight", parameters.size()),
                          .tensor = tensor.requires_grad_(true)});
  }
  return parameters;
}

Result<std::unique_ptr<Optimizer>> BuildIt(const TrainedParameters& parameters) {
  return Adam{}.Build(parameters);
}

void SetGradients(const TrainedParameters& parameters, int step) {
  for (const TrainedParameter& parameter : parameters) {
    at::Tensor(parameter.tensor).mutable_grad() =
        at::full_like(parameter.tensor, step).add_(parameter.tensor.detach());
  }
}

void ExpectSameState(const NamedTensors& got, const NamedTensors& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, wanted[i].name);
    EXPECT_TRUE(at::equal(got[i].tensor, wanted[i].tensor)) << got[i].name;
  }
}

TEST(ShareOut, GivesEachRankItsShareAndOneMoreAtMost) {
  const std::vector<int64_t> sizes = {5, 900, 30, 30, 0, 200, 31, 7, 500, 12};
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  for (const int64_t ranks : {1, 2, 3, 8, 20}) {
    const std::vector<int64_t> owners = ShareOut(sizes, ranks);
    std::vector<int64_t> filled(static_cast<size_t>(ranks));
    for (size_t i = 0; i < sizes.size(); ++i) filled.at(static_cast<size_t>(owners[i])) += sizes[i];
    EXPECT_EQ(std::accumulate(filled.begin(), filled.end(), int64_t{0}), sum);
    for (const int64_t part : filled) EXPECT_LE(part, sum / ranks + 900);
  }
  EXPECT_THAT(ShareOut(std::vector<int64_t>{4, 4, 4}, 2), testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(ShareOut(std::vector<int64_t>{4, 4, 4}, 2, {9, 0}), testing::ElementsAre(1, 1, 1));
}

TEST(ShardedOptimizer, UpdatesAsOneThatHasAllState) {
  for (const int64_t world : {2, 3, 7}) {            // the last has ranks without a parameter
    for (const int64_t bytes : {1, 200, 1 << 20}) {  // sent one value at a time, some, all at once
      AsRanks(world, [bytes](Group& group) {
        const TrainedParameters whole = Parameters(), shared = Parameters();
        STOKER_ASSERT_OK_AND_ASSIGN(const auto one, BuildIt(whole));
        STOKER_ASSERT_OK_AND_ASSIGN(const auto sharded,
                                    ShardedOptimizer::Create(group, shared, BuildIt, bytes));
        for (int step = 1; step <= 3; ++step) {
          SetGradients(whole, step);
          SetGradients(shared, step);
          one->Step({.lr = 0.1, .momentum = {}});
          sharded->Step({.lr = 0.1, .momentum = {}});
          for (size_t i = 0; i < whole.size(); ++i)
            EXPECT_TRUE(at::equal(shared[i].tensor, whole[i].tensor)) << whole[i].name;
        }
        STOKER_ASSERT_OK_AND_ASSIGN(const NamedTensors gathered, sharded->GatherState());
        if (group.membership().rank == 0) ExpectSameState(gathered, one->State());
      });
    }
  }
}

TEST(ShardedOptimizer, EachRankKeepsItsShareOfTheState) {
  AsRanks(3, [](Group& group) {
    TrainedParameters parameters;
    for (int i = 0; i < 30; ++i) {
      parameters.push_back({.name = fmt::format("layer{}.weight", i),
                            .tensor = at::zeros({1000 + i}).requires_grad_(true)});
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const auto one, BuildIt(parameters));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto sharded,
                                ShardedOptimizer::Create(group, parameters, BuildIt, 4096));
    const auto bytes_of = [](const Optimizer& optimizer) {
      size_t bytes = 0;
      for (const NamedTensor& each : optimizer.State()) bytes += each.tensor.nbytes();
      return static_cast<double>(bytes);
    };
    EXPECT_NEAR(bytes_of(*sharded) / bytes_of(*one), 1.0 / 3, 0.01);
  });
}

TEST(ShardedOptimizer, SpreadsTheStateThatRankZeroHas) {
  AsRanks(3, [](Group& group) {
    const TrainedParameters parameters = Parameters();
    STOKER_ASSERT_OK_AND_ASSIGN(const auto sharded,
                                ShardedOptimizer::Create(group, parameters, BuildIt, 4096));
    STOKER_ASSERT_OK_AND_ASSIGN(const NamedTensors wanted, sharded->WholeStateAtFirst());
    for (size_t i = 0; i < wanted.size(); ++i)
      at::Tensor(wanted[i].tensor).fill_(static_cast<double>(i + 1));
    STOKER_ASSERT_OK(sharded->SpreadState(group.membership().rank == 0 ? wanted : NamedTensors()));
    STOKER_ASSERT_OK_AND_ASSIGN(const NamedTensors gathered, sharded->GatherState());
    if (group.membership().rank == 0) ExpectSameState(gathered, wanted);
  });
}

TEST(ShardedOptimizer, SaysThatARankIsLost) {
  AsRanks(2, [](Group& group) {
    const TrainedParameters parameters = Parameters();
    STOKER_ASSERT_OK_AND_ASSIGN(const auto sharded,
                                ShardedOptimizer::Create(group, parameters, BuildIt, 4096));
    if (group.membership().rank == 1) return;
    SetGradients(parameters, 1);
    EXPECT_THROW(sharded->Step({.lr = 0.1, .momentum = {}}), c10::Error);
    EXPECT_THAT(sharded->lost(), FailsWith(StatusCode::kUnavailable, "the updated weights"));
  });
}

}  // namespace stoker::sharded_optimizer_test
