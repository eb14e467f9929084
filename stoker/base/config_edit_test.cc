#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/testing.h"

namespace stoker::config_edit_test {

using testing::ElementsAre;
using testing::IsEmpty;

ConfigNode Parsed(std::string_view text) {
  Result<ConfigNode> node = ParseYaml(text, "recipe.yaml");
  EXPECT_THAT(node, IsOk()) << text;
  return node.ok() ? *std::move(node) : ConfigNode();
}

constexpr std::string_view kRecipe = R"(data:
  train:
    - shuffle
    - batch: {size: 128}
    - map: a
    - map: b
train: {epochs: 3, optimizer: adamw, betas: [0.9, 0.99]}
)";

TEST(SetByPath, SetsReplacesAndMakesMapsOnTheWay) {
  const struct {
    const char *assignment, *changed;
  } cases[] = {
      {"train.epochs=1", "train.epochs: 3 -> 1"},
      {"train.seed=7", "train.seed: (absent) -> 7"},
      {"model.convnet.classes=10", "model: (absent) -> {convnet: {classes: 10}}"},
      {"train.epochs={a: [1, 2]}", "train.epochs: 3 -> {a: [1, 2]}"},
      {"train.epochs=", "train.epochs: 3 -> null"},
      {"train.optimizer.adamw.lr=0.1", "train.optimizer: adamw -> {adamw: {lr: 0.1}}"},
      {"train.note=a=b", "train.note: (absent) -> \"a=b\""},
      {"data.train.batch.size=64", "data.train.1.batch.size: 128 -> 64"},
      {"data.train.1.batch.size=64", "data.train.1.batch.size: 128 -> 64"},
      {"data.train.batch=64", "data.train.1.batch: {size: 128} -> 64"},
      {"data.train.shuffle.seed=4", "data.train.0: shuffle -> {shuffle: {seed: 4}}"},
      {"data.train.0.shuffle.seed=4", "data.train.0: shuffle -> {shuffle: {seed: 4}}"},
      {"data.train.3.map=c", "data.train.3.map: b -> c"},
      {"data.train.2=take", "data.train.2: {map: a} -> take"},
      {"train.betas.0=0.8", "train.betas: [0.9, 0.99] -> [0.8, 0.99]"},
  };
  const ConfigNode before = Parsed(kRecipe);
  for (const auto& [assignment, changed] : cases) {
    ConfigNode root = before;
    STOKER_ASSERT_OK(SetByPath(root, assignment));
    EXPECT_THAT(Differences(before, root), ElementsAre(changed)) << assignment;
  }
}

TEST(SetByPath, KnowsAStageByItsNameWhereverItsPolicyStands) {
  ConfigNode root = Parsed("train:\n  - on_error: skip\n    csv: {files: a}\n");
  STOKER_ASSERT_OK(SetByPath(root, "train.csv.files=b"));
  EXPECT_EQ(ToYamlLine(root), "{train: [{on_error: skip, csv: {files: b}}]}");
}

TEST(SetByPath, WorksOnAnEmptyRecipe) {
  ConfigNode root;
  STOKER_ASSERT_OK(SetByPath(root, "a.b=1"));
  EXPECT_EQ(ToYamlLine(root), "{a: {b: 1}}");
}

TEST(SetByPath, WhatItMadeSaysSoInsteadOfALine) {
  ConfigNode root = Parsed(kRecipe);
  STOKER_ASSERT_OK(SetByPath(root, "train.optim.sgd.lr=x"));
  const ConfigNode& sgd = *root.Find("train")->Find("optim")->Find("sgd");
  EXPECT_EQ(sgd.Find("lr")->location.ToString(), "--set train.optim.sgd.lr");
  EXPECT_EQ(sgd.Find("lr")->location.line, 0);
  EXPECT_EQ(sgd.entries[0].key_location.ToString(), "--set train.optim.sgd.lr");
}

TEST(SetByPath, RefusesWhatMakesNoSenseAndChangesNothing) {
  const struct {
    const char *assignment, *says;
  } cases[] = {
      {"train.epochs", "--set train.epochs: there is no '='"},
      {"", "there is no '='"},
      {"=1", "the key is empty"},
      {".a=1", "a part of it is"},
      {"a.=1", "a part of it is"},
      {"a..b=1", "a part of it is"},
      {"train.epochs.x=1",
       "--set train.epochs.x: 'x' leads through the value '3' (recipe.yaml:7:17); set that"},
      {"data.train.prefetch.depth=1",
       "'prefetch' is not in the list at recipe.yaml:3:5; name one of: shuffle, batch, map, map"},
      {"data.train.map=1",
       "'map' is 2 times in the list at recipe.yaml:3:5; name it by its number"},
      {"data.train.4=1", "there is no number 4 in the list at recipe.yaml:3:5; it has 4"},
      {"data.train.-1=1", "'-1' is not in the list"},
      {"data.train.99999999999999999999=1", "is not in the list"},
      {"data.train.0.batch.size=1", "'batch' leads through the value 'shuffle'"},
      {"a=[1", "is a ']' or '}' missing?"},
      {"a='1", "--set a:1:1: the quotes that open here"},
      {"a={b: 1, b: 2}", "--set a:1:8: the key 'b' is already"},
  };
  const ConfigNode before = Parsed(kRecipe);
  for (const auto& [assignment, says] : cases) {
    ConfigNode root = before;
    EXPECT_THAT(SetByPath(root, assignment), FailsWith(StatusCode::kInvalidArgument, says));
    EXPECT_THAT(Differences(before, root), IsEmpty()) << assignment;
  }
  std::string deep = "a";
  for (int i = 0; i < 64; ++i) deep += ".a";
  ConfigNode root;
  EXPECT_THAT(SetByPath(root, deep + "=1"),
              FailsWith(StatusCode::kInvalidArgument, "more than 64 parts"));
}

TEST(Differences, IgnoresPlacesOrderAndNeedlessQuotes) {
  EXPECT_THAT(Differences(Parsed("a: 1\nb: {c: x, d: 2}"), Parsed("\n\nb: {d: 2, c: 'x'}\na: 1")),
              IsEmpty());
}

TEST(Differences, NamesEachPathOnce) {
  EXPECT_THAT(Differences(Parsed("a: 1\nb: {c: x, d: 2}\ne: [1, 2]\nf: 3"),
                          Parsed("a: '1'\nb: {c: y}\ne: [1, 2, 3]\nf: 3\ng: {h: 1}")),
              ElementsAre("a: 1 -> \"1\"", "b.c: x -> y", "b.d: 2 -> (absent)",
                          "e: [1, 2] -> [1, 2, 3]", "g: (absent) -> {h: 1}"));
}

TEST(Differences, ComparesPipelinesStepByStep) {
  EXPECT_THAT(Differences(Parsed("[shuffle, batch: {size: 1, x: 2}]"),
                          Parsed("[shuffle, batch: {size: 4, x: 2}, prefetch]")),
              ElementsAre("1.batch.size: 1 -> 4", "2: (absent) -> prefetch"));
  EXPECT_THAT(Differences(Parsed("[1]"), Parsed("{a: 1}")),
              ElementsAre("(everything): [1] -> {a: 1}"));
}

}  // namespace stoker::config_edit_test
