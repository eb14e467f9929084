#include "stoker/data/ops/shard.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::shard_test {

using testing::ElementsAre;

std::vector<int64_t> LabelsOf(const Result<Dataset>& dataset) {
  return Labels(*ReadAll(*dataset, Runtime::Inline()));
}

TEST(Shard, TakesEveryCountThElementFromIndexOn) {
  for (const Dataset& source : {NumberedImages(10), StreamedImages(10)}) {
    const Result<Dataset> input = source;
    EXPECT_THAT(LabelsOf(input | Shard{.count = 3, .index = 0}), ElementsAre(0, 3, 6, 9));
    EXPECT_THAT(LabelsOf(input | Shard{.count = 3, .index = 2}), ElementsAre(2, 5, 8));
    EXPECT_EQ(LabelsOf(input | Shard{.count = 1}).size(), 10u);
    EXPECT_TRUE(LabelsOf(input | Shard{.count = 20, .index = 15}).empty());
  }
}

TEST(Shard, KeepsItsPromises) {
  for (const int64_t index : {0, 2}) {
    const Shard shard{.count = 3, .index = index};
    ExpectKeepsItsPromises(*(NumberedImages(20) | Shuffle{} | shard | Batch{.size = 2}));
    ExpectKeepsItsPromises(*(StreamedImages(20) | shard | Repeat{.count = 2} | Prefetch{}));
  }
}

TEST(Shard, ComputesNothingOfTheOthersByPosition) {
  std::atomic<int> made = 0;
  const Map count{.function = [&](Element&, Rng&, Scratch&) {
    ++made;
    return OkStatus();
  }};
  const Result<Dataset> dataset = NumberedImages(30) | count | Shard{.count = 3, .index = 1};
  EXPECT_EQ(LabelsOf(dataset).size(), 10u);
  EXPECT_EQ(made, 10);
  EXPECT_FALSE(dataset->node().Disturbs().empty());
}

// Of a stream, elements of other shards are made too, but freed one by one, as by a filter.
TEST(Shard, CountsTheMemoryOfItsOwnElements) {
  for (const Dataset& source : {NumberedImages(30), StreamedImages(30)}) {
    const Result<Dataset> shard = source | Shard{.count = 3, .index = 1};
    EXPECT_EQ(shard->node().MemoryToRead(2), source.node().MemoryToRead(2));
  }
}

TEST(Shard, RefusesAnIndexThatIsNoShard) {
  EXPECT_THAT((NumberedImages(5) | Shard{.count = 3, .index = 3}),
              FailsWith(StatusCode::kInvalidArgument, "there are 3 shards, 0 to 2"));
  EXPECT_THAT(NumberedImages(5) | Shard{.count = 0},
              FailsWith(StatusCode::kInvalidArgument, "count is 0"));
}

}  // namespace stoker::shard_test
