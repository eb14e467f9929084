#include "stoker/tools/doctor/recipe_facts.h"

#include <gmock/gmock.h>

#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::recipe_facts_test {

ConfigNode Parsed(const std::string& text) {
  Result<ConfigNode> root = ParseYaml(text, "recipe.yaml");
  EXPECT_THAT(root, IsOk());
  return root.ok() ? *std::move(root) : ConfigNode();
}

TEST(FactsOf, HasTheKeysThatTheDoctorMayChange) {
  const RecipeFacts facts = FactsOf(Parsed(R"(
data: {train: [range: 10, shuffle, batch: {size: 4}, prefetch]}
model: x
train:
  feed_threads: 1
  threads: auto
  memory: 1MB
  eval_every_steps: 7
  checkpoint: {every_steps: 3, async: false, best: loss}
  callbacks: [stop_at, log_tensors: {every: 2}]
)"));
  EXPECT_EQ(facts.feed_threads, 1);
  EXPECT_EQ(facts.threads, std::nullopt);
  EXPECT_TRUE(facts.memory_set);
  EXPECT_EQ(facts.eval_every_steps, 7);
  EXPECT_EQ(facts.checkpoint_every_steps, 3);
  EXPECT_FALSE(facts.checkpoint_async);
  EXPECT_TRUE(facts.follows_evaluations);
  EXPECT_EQ(facts.tensors_place, 1);
  EXPECT_EQ(facts.tensors_every, 2);
  EXPECT_TRUE(facts.has_model);
  EXPECT_TRUE(facts.ends_with_prefetch);
  EXPECT_EQ(facts.batch_key, "data.train.2.batch.size");
  EXPECT_EQ(facts.batch, 4);
}

TEST(FactsOf, ABatchIsWrittenInThreeWays) {
  const RecipeFacts short_form = FactsOf(Parsed("data: {train: [range: 10, batch: 8]}"));
  EXPECT_EQ(short_form.batch_key, "data.train.1.batch");
  EXPECT_EQ(short_form.batch, 8);
  const RecipeFacts bare = FactsOf(Parsed("data: {train: [range: 10, batch]}"));
  EXPECT_EQ(bare.batch_key, "data.train.1.batch.size");
  EXPECT_EQ(bare.batch, 0);
  EXPECT_FALSE(bare.has_model);
  EXPECT_FALSE(bare.memory_set);
  const RecipeFacts padded = FactsOf(Parsed("data: {train: [range: 10, padded_batch: {size: 8}]}"));
  EXPECT_EQ(padded.batch_key, "data.train.1.padded_batch.size");
  EXPECT_EQ(padded.batch, 8);
}

// Ten pictures of 4 x 4 in an IDX file, and a recipe with these stages after it.
class FindCachePlaceTest : public testing::Test {
 protected:
  RecipeFacts FactsOfStages(const std::string& stages) {
    const std::string header("\0\0\x08\x03\0\0\0\x0a\0\0\0\x04\0\0\0\x04", 16);
    std::ofstream(folder_ / "images", std::ios::binary) << header << std::string(160, 'x');
    return FactsOfData("train: [idx: {images: images}, " + stages + "]");
  }
  RecipeFacts FactsOfData(const std::string& data, bool source_is_slow = false) {
    const ConfigNode recipe = Parsed("data: {" + data + "}");
    RecipeFacts facts = FactsOf(recipe);
    FindCachePlace(recipe, folder_.path(), source_is_slow, facts);
    return facts;
  }

  TempDir folder_;
};

TEST_F(FindCachePlaceTest, IsBehindMapsWithTheShuffleMovedBehindIt) {
  const RecipeFacts facts =
      FactsOfStages("shuffle, center_crop: {size: 2}, normalize: {mean: 0, std: 1}, batch: 4");
  EXPECT_EQ(facts.cache_after, 2);
  EXPECT_EQ(facts.cache_move, 1);
  EXPECT_EQ(facts.cache_bytes, 40);
}

TEST_F(FindCachePlaceTest, NeedsNoMoveWithoutAShuffleBeforeIt) {
  const RecipeFacts facts = FactsOfStages("center_crop: {size: 2}, shuffle, batch: 4");
  EXPECT_EQ(facts.cache_after, 1);
  EXPECT_EQ(facts.cache_move, -1);
}

TEST_F(FindCachePlaceTest, IsBeforeWhatDraws) {
  const RecipeFacts facts =
      FactsOfStages("center_crop: {size: 3}, random_crop: {size: 2}, shuffle, batch: 4");
  EXPECT_EQ(facts.cache_after, 1);
}

TEST_F(FindCachePlaceTest, AShuffleIsNotMovedPastStagesThatChooseSamples) {
  EXPECT_EQ(FactsOfStages("shuffle, take: 5, center_crop: {size: 2}, batch: 4").cache_after,
            std::nullopt);
}

TEST_F(FindCachePlaceTest, IsBetweenASharedSourceAndWhatDrawsInTheTraining) {
  FactsOfStages("batch: 4");  // writes the file
  const RecipeFacts facts = FactsOfData(
      "source: [idx: {images: images}, center_crop: {size: 3}], "
      "train: [random_crop: {size: 2}, shuffle, batch: 4], eval: [batch: 4]");
  EXPECT_EQ(facts.cache_after, -1);
  EXPECT_EQ(facts.cache_move, -1);
  EXPECT_EQ(facts.cache_bytes, 90);
}

TEST_F(FindCachePlaceTest, OfASharedSourceThatIsSplitKeepsOneSide) {
  FactsOfStages("batch: 4");
  const RecipeFacts facts = FactsOfData(
      "source: [idx: {images: images}], split: 0.2, "
      "train: [shuffle, center_crop: {size: 2}, batch: 4], eval: [batch: 4]");
  EXPECT_EQ(facts.cache_after, 1);
  EXPECT_EQ(facts.cache_move, 0);
  EXPECT_LT(facts.cache_bytes, 40);
  EXPECT_GT(facts.cache_bytes, 0);
}

TEST_F(FindCachePlaceTest, IsDirectlyAfterASourceOnlyIfThatIsSlow) {
  FactsOfStages("batch: 4");
  const std::string shared =
      "source: [idx: {images: images}], train: [random_crop: {size: 2}, batch: 4]";
  EXPECT_EQ(FactsOfData(shared, /*source_is_slow=*/false).cache_after, std::nullopt);
  EXPECT_EQ(FactsOfData(shared, /*source_is_slow=*/true).cache_after, -1);
  const std::string own = "train: [idx: {images: images}, random_crop: {size: 2}, batch: 4]";
  EXPECT_EQ(FactsOfData(own, /*source_is_slow=*/false).cache_after, std::nullopt);
  EXPECT_EQ(FactsOfData(own, /*source_is_slow=*/true).cache_after, 0);
}

TEST(FindCachePlace, IsNowhereWhereThereIsACacheOrNothingToKeep) {
  for (const char* text : {"data: {train: [range: {stop: 10}, cache, enumerate, batch: 4]}",
                           "data: {train: [range: {stop: 10}, shuffle, batch: 4]}"}) {
    const ConfigNode recipe = Parsed(text);
    RecipeFacts facts = FactsOf(recipe);
    FindCachePlace(recipe, ".", /*source_is_slow=*/false, facts);
    EXPECT_EQ(facts.cache_after, std::nullopt) << text;
  }
}

}  // namespace stoker::recipe_facts_test
