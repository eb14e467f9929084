// Operators as a recipe writes them.
#include <tuple>

#include "stoker/base/config.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/lengths.h"

namespace stoker::recipe_entries_test {

Result<Dataset> Add(const Dataset& input, const std::string& entry) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode node, ParseYaml(entry, "r.yaml"));
  STOKER_ASSIGN_OR_RETURN(const auto configured, OperatorRegistry::Known().Parse(node));
  return configured.build(input);
}

TEST(RecipeEntries, SetOptionsByNameOrTheFirstByItsValueAlone) {
  const Dataset images = NumberedImages(12), sequences = Sequences({1, 2, 3});
  const std::tuple<Dataset, const char*, const char*> kCases[] = {
      {images, "filter: {equals: [1, 2], max: 9}", "filter_condition: label in [1, 2] <= 9"},
      {images, "filter: {equals: 3}", "filter_condition: label in [3]"},
      {images, "enumerate", "enumerate: index from 0"},
      {images, "enumerate: number", "enumerate: number from 0"},
      {images, "window: {size: 3, shift: 1}", "window: size 3, shift 1, stride 1"},
      {images, "window: 3", "window: size 3, shift 3, stride 1"},
      {images, "one_hot: 12", "one_hot: label, 12 classes"},
      {images, "input_mask: {unit: row}", "input_mask: image, each row, probability 0.15"},
      {images, "normalize: {per_sample: true}", "normalize: image, per sample"},
      {sequences, "padded_batch: 4", "padded_batch: size 4, pads tokens with 0"},
      {sequences, "padded_batch: {size: 4, shape: 512, padding: -1, mask: true}",
       "tokens: int64[?, 512]"},
      {sequences, "padded_batch: {shape: ['?']}", "tokens: int64[?, ?]"},
      {sequences, "bucket_by_length: {field: tokens, boundaries: [2, 4], tokens: 64}",
       "bucket_by_length: boundaries 2 4, 64 tokens"},
  };
  for (const auto& [input, entry, says] : kCases) {
    SCOPED_TRACE(entry);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Add(input, entry));
    EXPECT_THAT(dataset.ToString(), testing::HasSubstr(says));
  }
}

TEST(RecipeEntries, OfBatchesFollowABatch) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset labelled, Add(NumberedImages(12), "one_hot: 12"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, Add(labelled, "batch: 4"));
  for (const char* entry : {"mixup", "mixup: 0.4", "cutmix: {per_sample: true}", "unbatch"})
    EXPECT_THAT(Add(batches, entry), IsOk()) << entry;
}

TEST(RecipeEntries, ThatAreWrongSaySo) {
  const Dataset images = NumberedImages(12);
  EXPECT_THAT(Add(images, "filter: {equal: 3}"),
              FailsWith(StatusCode::kInvalidArgument, "did you mean 'equals'?"));
  EXPECT_THAT(Add(images, "one_hot"), FailsWith(StatusCode::kInvalidArgument, "'classes'"));
  EXPECT_THAT(Add(images, "window"), FailsWith(StatusCode::kInvalidArgument, "'size'"));
  EXPECT_THAT(Add(images, "unbatch: {size: 3}"), FailsWith(StatusCode::kInvalidArgument, "size"));
}

}  // namespace stoker::recipe_entries_test
