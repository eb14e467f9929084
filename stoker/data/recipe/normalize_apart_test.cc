#include "stoker/data/recipe/normalize_apart.h"

#include "stoker/data/recipe/recipe.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"

namespace stoker::normalize_apart_test {

// As bytes, their values and offsets would be no input of a model of numbers.
TEST(TakeNormalizeOut, LeavesTheStageOfARaggedBatchWhereItIs) {
  const TempDir dir;
  WriteBelow(dir, "strokes.jsonl", "{\"x\": [1, 2, 3]}\n{\"x\": [4]}\n");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      ParseDataSection(
          *ParseYaml(
              "data: {train: [jsonl: {files: strokes.jsonl, fields: {x: {type: uint8, shape: "
              "[-1]}}}, normalize: {field: x, mean: 1, std: 2}, batch: {size: 2, ragged: "
              "true}]}",
              "r.yaml"),
          dir.path()));
  EXPECT_THAT(TakeNormalizeOut(data, "train", "x"),
              FailsWith(StatusCode::kFailedPrecondition, "'x' is ragged"));
}

}  // namespace stoker::normalize_apart_test
