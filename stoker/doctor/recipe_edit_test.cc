#include "stoker/doctor/recipe_edit.h"

#include <gmock/gmock.h>

#include "stoker/base/testing.h"

namespace stoker::recipe_edit_test {

constexpr std::string_view kRecipe = R"(# What this is for.
data:
  root: here            # the data
  train:
    - folder: pictures
    # In another order each time.
    - shuffle
    - decode: {channels: grey}   # grey
    - batch: 16

    # The end.
  eval: [folder: test, decode, batch: 50]
model: {mlp: {classes: 4}}
train:   # how
  # how often
  epochs: 4
  checkpoint: {every_steps: 1, keep: 3}  # often
  callbacks: [{log_tensors: {every: 1}}, stop_at: 9]
)";

RecipeChange Set(std::string key, std::string value) {
  return RecipeChange::Set(std::move(key), std::move(value));
}

struct EditCase {
  const char* name;
  RecipeChange change;
  std::string_view before, after;  // a part of the recipe that the change replaces
};

class EditRecipeTest : public testing::TestWithParam<EditCase> {};

TEST_P(EditRecipeTest, ChangesThatPlaceAndNoOther) {
  std::string wanted(kRecipe);
  const size_t at = wanted.find(GetParam().before);
  ASSERT_NE(at, std::string::npos);
  wanted.replace(at, GetParam().before.size(), GetParam().after);
  const Result<std::string> edited = EditRecipe(kRecipe, "recipe.yaml", GetParam().change);
  ASSERT_TRUE(edited.ok()) << edited.status().ToString();
  EXPECT_EQ(*edited, wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, EditRecipeTest,
    testing::Values(
        EditCase{"Value", Set("train.epochs", "9"), "epochs: 4", "epochs: 9"},
        EditCase{"ValueBeforeAComment", Set("data.root", "there"), "root: here  ", "root: there  "},
        EditCase{"ValueInBraces", Set("train.checkpoint.every_steps", "50"), "every_steps: 1,",
                 "every_steps: 50,"},
        EditCase{"NewKeyInBraces", Set("train.checkpoint.async", "true"), "{every_steps",
                 "{async: true, every_steps"},
        EditCase{"NewKeyInASection", Set("train.feed_threads", "auto"), "# how\n",
                 "# how\n  feed_threads: auto\n"},
        EditCase{"NewSectionInASection", Set("train.tensorboard.enabled", "false"), "# how\n",
                 "# how\n  tensorboard: {enabled: false}\n"},
        EditCase{"NewSection", Set("plugins.a", "1"), "stop_at: 9]\n",
                 "stop_at: 9]\nplugins: {a: 1}\n"},
        EditCase{"ValueOfAStage", Set("data.train.3.batch", "64"), "batch: 16", "batch: 64"},
        EditCase{"OptionOfABareStage", Set("data.train.shuffle.seed", "3"), "- shuffle",
                 "- shuffle: {seed: 3}"},
        EditCase{"OptionInAListOfMaps", Set("train.callbacks.0.log_tensors.every", "100"),
                 "{every: 1}", "{every: 100}"},
        EditCase{"StageInTheMiddle", RecipeChange::Insert("data.train", 0, "cache"),
                 "- folder: pictures\n", "- folder: pictures\n    - cache\n"},
        EditCase{"StageBehindAComment", RecipeChange::Insert("data.train", 2, "cache"), "# grey\n",
                 "# grey\n    - cache\n"},
        EditCase{"LastStage", RecipeChange::Insert("data.train", 3, "prefetch"), "- batch: 16\n",
                 "- batch: 16\n    - prefetch\n"},
        EditCase{"FirstStage", RecipeChange::Insert("data.train", -1, "prefetch"),
                 "    - folder: pictures\n", "    - prefetch\n    - folder: pictures\n"},
        EditCase{"StageInBrackets", RecipeChange::Insert("data.eval", 0, "cache"), "decode, batch",
                 "cache, decode, batch"},
        EditCase{"LastStageInBrackets", RecipeChange::Insert("data.eval", 2, "prefetch"), "50]",
                 "50, prefetch]"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(EditRecipe, KeepsLineEndsOfOtherSystemsAndAMissingLastOne) {
  EXPECT_EQ(*EditRecipe("a: 1\r\nb:\r\n  c: 2\r\n", "x", Set("b.d", "3")),
            "a: 1\r\nb:\r\n  d: 3\r\n  c: 2\r\n");
  EXPECT_EQ(*EditRecipe("a: 1", "x", Set("b", "3")), "a: 1\nb: 3\n");
  EXPECT_EQ(*EditRecipe("a:\n- x", "x", RecipeChange::Insert("a", 0, "y")), "a:\n- x\n- y\n");
}

TEST(EditRecipe, ReplacesQuotedValues) {
  EXPECT_EQ(*EditRecipe("a: \"x # y\" # z\n", "x", Set("a", "1")), "a: 1 # z\n");
  EXPECT_EQ(*EditRecipe("a: {b: 'it, is'}\n", "x", Set("a.b", "1")), "a: {b: 1}\n");
}

TEST(EditRecipe, ItemsOfSeveralLinesStayWhole) {
  EXPECT_EQ(*EditRecipe("a:\n  - x:\n      y: 1\n\n      # of z\n      z: 2\n  # of w\n  - w\n",
                        "x", RecipeChange::Insert("a", 0, "cache")),
            "a:\n  - x:\n      y: 1\n\n      # of z\n      z: 2\n  - cache\n  # of w\n  - w\n");
  EXPECT_EQ(*EditRecipe("a: [x: {b: [1,\n 2]}, # c ]\n  y\n  ]\n", "x",
                        RecipeChange::Insert("a", 1, "z")),
            "a: [x: {b: [1,\n 2]}, # c ]\n  y, z\n  ]\n");
}

TEST(EditRecipe, AStageThatMovesTakesItsCommentsAlong) {
  EXPECT_EQ(*EditRecipe("t:\n  - x  # 1\n  # of y\n  - y: {a: 1}\n\n  # of z\n  - z: 2\n  - w\n",
                        "x", RecipeChange::Insert("t", 2, "cache", 1)),
            "t:\n  - x  # 1\n\n  # of z\n  - z: 2\n  - cache\n  # of y\n  - y: {a: 1}\n  - w\n");
  EXPECT_EQ(*EditRecipe("t: [x: 1, y, z: {a: 1, b: 2}, w: 3]\n", "x",
                        RecipeChange::Insert("t", 2, "cache", 1)),
            "t: [x: 1, z: {a: 1, b: 2}, cache, y, w: 3]\n");
  EXPECT_EQ(*EditRecipe("t: [x: 1, y, z]\n", "x", RecipeChange::Insert("t", 2, "cache", 1)),
            "t: [x: 1, z, cache, y]\n");
}

TEST(RecipeChange, CountsStagesThatWereInsertedBeforeIt) {
  const RecipeChange cache = RecipeChange::Insert("data.train", 2, "cache", 1);
  EXPECT_EQ(RecipeChange::Insert("data.train", 5, "prefetch").AfterInserting(cache).after, 6);
  EXPECT_EQ(RecipeChange::Insert("data.train", 1, "prefetch").AfterInserting(cache).after, 1);
  EXPECT_EQ(RecipeChange::Insert("data.eval", 5, "prefetch").AfterInserting(cache).after, 5);
  EXPECT_EQ(Set("data.train.3.batch.size", "8").AfterInserting(cache).key,
            "data.train.4.batch.size");
  EXPECT_EQ(Set("data.train.2.decode", "x").AfterInserting(cache).key, "data.train.2.decode");
  EXPECT_EQ(Set("train.epochs", "8").AfterInserting(cache).key, "train.epochs");
}

TEST(EditRecipe, RefusesWhatItCannotWriteWithoutOtherChanges) {
  struct Case {
    const char* text;
    RecipeChange change;
  };
  for (const Case& each : {
           Case{"a: &x {b: 1}\nc: *x\n", Set("c.b", "2")},  // would change a too
           Case{"a: |\n  many\n  lines\n", Set("a", "2")},
           Case{"a: {b: [1, 2]}\n", Set("a.b", "3")},
           Case{"a: 1\n", RecipeChange::Insert("data.train", 0, "cache")},
           Case{"a: [x]\n", RecipeChange::Insert("a", 4, "cache")},
           Case{"a: []\n", RecipeChange::Insert("a", -1, "cache")},
       }) {
    const Result<std::string> edited = EditRecipe(each.text, "r.yaml", each.change);
    ASSERT_FALSE(edited.ok()) << each.text;
    EXPECT_THAT(edited.status().message(), testing::HasSubstr("r.yaml")) << each.text;
  }
  EXPECT_EQ(EditRecipe("a: [", "r.yaml", Set("a", "1")).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace stoker::recipe_edit_test
