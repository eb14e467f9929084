// Recipes whose two pipelines share a source, which data.split parts.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "stoker/data/advice/data_doubts.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/recipe/data_check.h"
#include "stoker/data/recipe/normalize_apart.h"
#include "stoker/data/recipe/numbered_pipeline.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"

namespace stoker::split_recipe_test {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHead = R"(data:
  source:
    - csv: {files: rows.csv, index: memory}
)";
// Texts differ in length, so batches pad.
constexpr const char* kPadded = R"(  train: [shuffle, {padded_batch: 8}]
  eval: [padded_batch: 8]
)";

class SplitRecipe : public testing::Test {
 protected:
  void SetUp() override { WriteRows(100); }

  // id counts, kind is a, b or c.
  void WriteRows(int rows) {
    std::string text = "id,kind,x\n";
    for (int i = 0; i < rows; ++i) text += fmt::format("{},{},{}\n", i, "abc"[i % 3], i % 7);
    WriteBelow(dir_, "rows.csv", text);
  }

  static ConfigNode Tree(const std::string& text) { return *ParseYaml(text, "r.yaml"); }
  Result<DataRecipe> Parse(const std::string& split) const {
    return ParseDataSection(Tree(kHead + split + kPadded), dir_.path());
  }

  static std::vector<int64_t> Ids(const Dataset& dataset) {
    std::vector<int64_t> ids = Labels(*ReadAll(dataset, Runtime::Threaded(2)), 0);
    std::ranges::sort(ids);
    return ids;
  }

  const TempDir dir_;
};

TEST_F(SplitRecipe, TrainAndEvalAreItsTwoSides) {
  for (const char* split :
       {"0.2", "{eval: 0.2, seed: 1}", "{fold: 2/5, by: id}", "{eval: 0.2, stratify: kind}"}) {
    const ConfigNode recipe = Tree(fmt::format("{}  split: {}\n{}", kHead, split, kPadded));
    STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, ParseDataSection(recipe, dir_.path()));
    std::vector<int64_t> all = Ids(data.train);
    const std::vector<int64_t> eval = Ids(*data.eval);
    EXPECT_NEAR(static_cast<double>(eval.size()), 20, split[1] == 'f' ? 12 : 1) << split;
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset alone, ParseEvalPipeline(recipe, dir_.path()));
    EXPECT_EQ(Ids(alone), eval);
    all.insert(all.end(), eval.begin(), eval.end());
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), 100u) << split;
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  }
}

TEST_F(SplitRecipe, IsFilledInAsItIsWrittenAndReadsTheSameAgain) {
  const ConfigNode recipe = Tree(fmt::format("{}  split: 0.2\n{}", kHead, kPadded));
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, ParseDataSection(recipe, dir_.path()));
  const ConfigNode& filled = data.filled;
  EXPECT_EQ(ToYamlLine(*filled.Find("split")),
            "{eval: 0.2, fold: \"\", by: [], group: \"\", stratify: \"\", seed: 0}");
  EXPECT_EQ(filled.Find("source")->items.size(), 1u);
  EXPECT_EQ(filled.Find("train")->items.size(), 2u);
  EXPECT_EQ(filled.Find("eval")->items.size(), 1u);
  const ConfigNode stored = Tree(ToYaml(ConfigNode::Map({{"data", {}, filled}})));
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe again, ParseDataSection(stored, "/nowhere"));
  EXPECT_EQ(Ids(again.train), Ids(data.train));
  EXPECT_EQ(Ids(*again.eval), Ids(*data.eval));
  EXPECT_THAT(Differences(again.filled, filled), IsEmpty());
}

TEST_F(SplitRecipe, ASourceMayBeSharedWithoutASplitAndBeOneStage) {
  const std::string head = "data:\n  source: {csv: {files: rows.csv, index: memory}}\n";
  for (const char* split : {"", "  split: null\n"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                                ParseDataSection(Tree(head + split +
                                                      "  train: [take: 60, padded_batch: 8]\n"
                                                      "  eval: [skip: 60, padded_batch: 8]\n"),
                                                 dir_.path()));
    EXPECT_EQ(Ids(data.train).size(), 60u);
    EXPECT_EQ(Ids(*data.eval).size(), 40u);
    EXPECT_EQ(data.filled.Find("split"), nullptr);
  }
}

TEST_F(SplitRecipe, AssignmentsReachItsKeys) {
  ConfigNode recipe = Tree(fmt::format("{}  split: 0.2\n{}", kHead, kPadded));
  STOKER_ASSERT_OK(
      ApplyAssignments(recipe, {"data.split={eval: 0.5, by: id}", "data.split.seed=3"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, ParseDataSection(recipe, dir_.path()));
  EXPECT_GT(Ids(*data.eval).size(), 30u);
  STOKER_ASSERT_OK(ApplyAssignments(recipe, {"data.split=null"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset whole, ParseEvalPipeline(recipe, dir_.path()));
  EXPECT_EQ(Ids(whole).size(), 100u);
}

TEST_F(SplitRecipe, SamplesThatAreAppendedMoveNoOther) {
  for (const char* split : {"0.3", "{eval: 0.3, by: id}", "{eval: 0.3, stratify: kind}"}) {
    WriteRows(100);
    const ConfigNode recipe = Tree(fmt::format("{}  split: {}\n{}", kHead, split, kPadded));
    const std::vector<int64_t> few = Ids(*ParseEvalPipeline(recipe, dir_.path()));
    WriteRows(151);
    std::vector<int64_t> many = Ids(*ParseEvalPipeline(recipe, dir_.path()));
    EXPECT_GT(many.size(), few.size()) << "the new rows are split too";
    std::erase_if(many, [](int64_t id) { return id >= 100; });
    EXPECT_EQ(many, few) << split;
  }
}

TEST_F(SplitRecipe, PredictionsNumberTheSamplesAndLeaveTheSplitOutForOthers) {
  const std::string numbers = R"(data:
  source: [range: 50]
  split: 0.2
  train: [batch: 8]
  eval: [batch: 8]
)";
  STOKER_ASSERT_OK_AND_ASSIGN(const NumberedPipeline numbered,
                              ParseNumberedEvalPipeline(Tree(numbers), dir_.path()));
  STOKER_ASSERT_OK_AND_ASSIGN(const size_t field,
                              numbered.batches.spec().IndexOf("test", numbered.number));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(numbered.batches, Runtime::Inline()));
  EXPECT_EQ(Labels(batches, 0), Labels(batches, field));
  EXPECT_EQ(Labels(batches, 0).size(), 10u);
  EXPECT_THAT(numbered.disturbances, testing::ElementsAre("split leaves elements out"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset others,
                              BuildEvalPipelineOn(Tree(numbers), NumberedImages(30)));
  EXPECT_EQ(Labels(*ReadAll(others, Runtime::Inline())).size(), 30u);
}

TEST_F(SplitRecipe, NormalizeIsFoundAfterTheSharedStages) {
  for (int i = 0; i < 10; ++i)
    WriteBelow(dir_, fmt::format("pictures/{}/{}.ppm", "ab"[i % 2], i), SmallPicture(2, 2, 0));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      ParseDataSection(
          Tree("data:\n  source: [folder: pictures, decode, center_crop: 2]\n  split: {eval: 0.2, "
               "stratify: label}\n  train: [shuffle, normalize, batch: 4]\n"
               "  eval: [normalize, batch: 2]\n"),
          dir_.path()));
  STOKER_ASSERT_OK_AND_ASSIGN(const NormalizeApart train, TakeNormalizeOut(data, "train", "image"));
  EXPECT_EQ(train.pixels.cardinality(), data.train.cardinality());
  STOKER_ASSERT_OK_AND_ASSIGN(const NormalizeApart eval, TakeNormalizeOut(data, "eval", "image"));
  EXPECT_EQ(eval.pixels.spec().fields[0].dtype, DType::kUInt8);
  EXPECT_EQ(eval.pixels.cardinality(), data.eval->cardinality());
}

TEST_F(SplitRecipe, IsNoDoubtButASharedSourceWithoutItIs) {
  const std::string split = fmt::format("{}  split: 0.2\n{}", kHead, kPadded);
  EXPECT_THAT(DoubtsAbout(*Tree(split).Find("data")), IsEmpty());
  const std::vector<DataDoubt> doubts =
      DoubtsAbout(*Tree(std::string(kHead) + kPadded).Find("data"));
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_THAT(doubts[0].problem, HasSubstr("the same source, whole"));
  EXPECT_THAT(doubts[0].advice, HasSubstr("data.split"));
}

TEST_F(SplitRecipe, SaysOnceAndWithItsPlaceWhatIsWrong) {
  const std::pair<const char*, const char*> kCases[] = {
      {"  split: 2\n", "r.yaml:4:10: split: eval is 2"},
      {"  split: {fold: 7/5}\n", "r.yaml:4:10: split: fold is '7/5'"},
      {"  split: {eval: 0.2, side: eval}\n", "r.yaml:4:28: data.split has no side"},
      {"  split: [0.2]\n", "r.yaml:4:10: data.split is a list"},
      {"  split: {evla: 0.2}\n", "did you mean 'eval'?"},
      {"  split: {test_size: 0.2}\n", "here that is eval"},
      {"  split: {eval: 0.2, stratify: sort}\n", "there is no field 'sort'"},
  };
  for (const auto& [split, says] : kCases) {
    const Status status = Parse(split).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << split;
    const std::string& message = status.message();
    const size_t at = message.find(says);
    ASSERT_NE(at, std::string::npos) << message;
    EXPECT_EQ(message.find(says, at + 1), std::string::npos) << message;
  }
  EXPECT_THAT(ParseDataSection(Tree("data:\n  split: 0.2\n  train: [range: 9]\n"), dir_.path()),
              FailsWith(StatusCode::kInvalidArgument, "r.yaml:2:10: data.split divides"));
  EXPECT_THAT(ParseDataSection(Tree("data:\n  source: [range: 5]\n  train: [batch: 2]\n"
                                    "  eval: [range: 9, batch: 2]\n"),
                               dir_.path()),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:4:10: data.eval begins with the source range"));
  EXPECT_THAT(ParseDataSection(Tree("data:\n  source: []\n  train: [range: 9]\n"), dir_.path()),
              FailsWith(StatusCode::kInvalidArgument, "r.yaml:2:11: data.source is empty"));
}

// A table is read for its sides once for both pipelines, and again only if it has changed.
TEST_F(SplitRecipe, ReadsTheTableOnceForBothSides) {
  std::string log;
  SetLogSink([&](LogLevel, std::string_view message) { log += std::string(message) + "\n"; });
  WriteBelow(dir_, "rows.csv", "id,kind,x\n1,a,1\n2,a,1\n3,a,2\n4,a,2\n5,a,1\n6,b,1\n");
  const ConfigNode recipe =
      Tree(fmt::format("{}  split: {{eval: 0.2, stratify: kind}}\n{}", kHead, kPadded));
  STOKER_EXPECT_OK(ParseDataSection(recipe, dir_.path()));
  STOKER_EXPECT_OK(ParseDataSection(recipe, dir_.path()));
  SetLogSink({});
  const std::string_view warning = "evaluation gets no sample of 1 of 2 classes of 'kind': 'b' (1)";
  const size_t at = log.find(warning);
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find(warning, at + 1), std::string::npos) << log;
}

}  // namespace stoker::split_recipe_test
