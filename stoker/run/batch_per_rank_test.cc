#include "stoker/run/batch_per_rank.h"

#include "stoker/base/testing.h"

namespace stoker::batch_per_rank_test {

std::string Taken(const std::string& stages, const std::string& batch, int64_t ranks) {
  const std::string text =
      "data: {train: " + stages + "}\ntrain: {distributed: {batch: " + batch + ", timeout: 5}}\n";
  Result<ConfigNode> recipe = ParseYaml(text, "r.yaml");
  EXPECT_THAT(recipe, IsOk());
  const Status taken = TakeBatchPerRank(*recipe, ranks);
  if (!taken.ok()) return taken.message();
  return ToYamlLine(*recipe->Find("data")->Find("train")) + " " +
         recipe->Find("train")->Find("distributed")->Find("batch")->scalar;
}

TEST(BatchSizeKey, NamesTheStageThatMakesBatches) {
  const auto key = [](const std::string& recipe) {
    return BatchSizeKey(ParseYaml(recipe, "r.yaml").value());
  };
  EXPECT_EQ(key("data: {train: [shuffle, {batch: 64}]}"), "data.train.batch.size");
  EXPECT_EQ(key("data: {train: [{padded_batch: {size: 8}}, prefetch]}"),
            "data.train.padded_batch.size");
  EXPECT_EQ(key("data: {train: [padded_batch]}"), "data.train.padded_batch.size");
  for (const char* none : {"data: {train: [shuffle]}", "data: {train: 3}", "model: {mlp: {}}"})
    EXPECT_EQ(key(none), "data.train.batch.size") << none;
}

TEST(BatchPerRank, IsMadeTheBatchOfAllProcesses) {
  EXPECT_EQ(Taken("[shuffle, {batch: 64}]", "per_rank", 3), "[shuffle, {batch: 192}] global");
  EXPECT_EQ(Taken("[{batch: {size: 64, drop_remainder: true}}]", "per_rank", 2),
            "[{batch: {size: 128, drop_remainder: true}}] global");
  EXPECT_EQ(Taken("[{padded_batch: 8}, prefetch]", "per_rank", 4),
            "[{padded_batch: 32}, prefetch] global");
  EXPECT_EQ(Taken("[{batch: 64}]", "per_rank", 1), "[{batch: 64}] global");
}

TEST(BatchPerRank, IsOnlyTakenWhereTheRecipeSaysSo) {
  EXPECT_EQ(Taken("[{batch: 64}]", "global", 3), "[{batch: 64}] global");
  EXPECT_EQ(Taken("[{batch: 64}]", "mine", 3), "[{batch: 64}] mine");
  EXPECT_EQ(Taken("[{batch: many}]", "per_rank", 3), "[{batch: many}] per_rank");
}

TEST(BatchPerRank, NeedsOneStageThatMakesBatches) {
  EXPECT_THAT(Taken("[shuffle]", "per_rank", 3), testing::HasSubstr("r.yaml:2:"));
  EXPECT_THAT(Taken("[{batch: 4}, unbatch, {batch: 8}]", "per_rank", 3),
              testing::HasSubstr("has 2 of them"));
  EXPECT_THAT(Taken("[{batch: 9223372036854775807}]", "per_rank", 3),
              testing::HasSubstr("too many"));
}

}  // namespace stoker::batch_per_rank_test
