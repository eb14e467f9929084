#include "stoker/train/plan/initial_weights.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/formats/pt/pt_writer.h"
#include "stoker/run/testing.h"
#include "stoker/run/weights_file.h"
#include "stoker/run/weights_source.h"
#include "stoker/train/loop/trainer.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/models/convnet.h"
#include "stoker/train/models/mlp.h"
#include "stoker/train/step/learner.h"

namespace stoker::initial_weights_test {

constexpr ModelInput kSample{.channels = 1, .height = 8, .width = 8};

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind, uint64_t seed) {
  auto model = BuildModel(Configure(kind), kSample, seed, {});
  EXPECT_THAT(model, IsOk());
  return *std::move(model);
}
std::shared_ptr<Model> Net(uint64_t seed, int64_t classes = 4) {
  return Built(Mlp{.classes = classes, .hidden = {16}}, seed);
}
std::vector<NamedArray> Arrays(const Model& model, std::string_view prefix = "") {
  return *ToNamedArrays(StateOf(model), prefix);
}
bool Same(const Model& a, const Model& b, std::string_view tensor) {
  const NamedTensors of_a = StateOf(a), of_b = StateOf(b);
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (of_a[i].name == tensor) return torch::equal(of_a[i].tensor, of_b[i].tensor);
  }
  ADD_FAILURE() << tensor;
  return false;
}

TEST(CopyWeights, TakesEveryTensorWhereAllFit) {
  const auto from = Net(1), to = Net(2);
  STOKER_ASSERT_OK_AND_ASSIGN(const InitReport report, CopyWeights(*to, {}, Arrays(*from), "w.pt"));
  EXPECT_TRUE(report.fits());
  EXPECT_EQ(report.taken, 4);
  EXPECT_EQ(report.ToText(), "4 of the model's 4 tensors are taken from w.pt");
  for (const char* name : {"1.weight", "1.bias", "3.weight", "3.bias"}) {
    EXPECT_TRUE(Same(*from, *to, name)) << name;
  }
}

TEST(CopyWeights, NamesWhatIsMissingUnexpectedAndOfAnotherShapeAndCopiesNothing) {
  const auto from = Net(1, /*classes=*/10), to = Net(2), untouched = Net(2);
  std::vector<NamedArray> arrays = Arrays(*from);
  arrays.erase(arrays.begin() + 1);
  arrays.push_back({"extra", Array::Of(std::vector<float>{1})});
  const auto report = CopyWeights(*to, {}, arrays, "w.pt");
  EXPECT_THAT(report, FailsWith(StatusCode::kFailedPrecondition, "1 of the model's 4 tensors"));
  EXPECT_THAT(report, FailsWith(StatusCode::kFailedPrecondition, "1 are missing there (1.bias)"));
  EXPECT_THAT(report,
              FailsWith(StatusCode::kFailedPrecondition, "1 there are not the model's (extra)"));
  EXPECT_THAT(report, FailsWith(StatusCode::kFailedPrecondition,
                                "3.weight is float32[10, 16], the model has float32[4, 16]"));
  EXPECT_THAT(report, FailsWith(StatusCode::kFailedPrecondition, "partial: true"));
  EXPECT_TRUE(Same(*to, *untouched, "1.weight"));
}

TEST(CopyWeights, TakesWhatFitsWhereThatIsAskedFor) {
  const auto from = Net(1, /*classes=*/10), to = Net(2), untouched = Net(2);
  STOKER_ASSERT_OK_AND_ASSIGN(const InitReport report,
                              CopyWeights(*to, {.partial = true}, Arrays(*from), "w.pt"));
  EXPECT_EQ(report.taken, 2);
  EXPECT_EQ(report.mismatched.size(), 2u);
  EXPECT_TRUE(Same(*to, *from, "1.weight"));
  EXPECT_TRUE(Same(*to, *untouched, "3.weight"));
}

TEST(CopyWeights, SkipsANewHead) {
  const auto from = Net(1, /*classes=*/10), to = Net(2), untouched = Net(2);
  STOKER_ASSERT_OK_AND_ASSIGN(const InitReport report,
                              CopyWeights(*to, {.skip = {"3.*"}}, Arrays(*from), "w.pt"));
  EXPECT_TRUE(report.fits());
  EXPECT_THAT(report.skipped, testing::ElementsAre("3.weight", "3.bias"));
  EXPECT_TRUE(Same(*to, *from, "1.bias"));
  EXPECT_TRUE(Same(*to, *untouched, "3.bias"));
  EXPECT_THAT(CopyWeights(*to, {.skip = {"head.*"}}, Arrays(*from), "w.pt"),
              FailsWith(StatusCode::kInvalidArgument, "'head.*' matches none of the model's 4"));
}

TEST(CopyWeights, AdvisesToSkipTheLayersThatReallyDoNotFit) {
  const auto from = Net(1, /*classes=*/10), to = Net(2);
  EXPECT_THAT(CopyWeights(*to, {}, Arrays(*from), "w.pt"),
              FailsWith(StatusCode::kFailedPrecondition,
                        "first values there (skip: [\"3.*\"]), or take what fits (partial: true)"));
  std::vector<NamedArray> arrays = Arrays(*from);
  arrays.push_back({"extra", Array::Of(std::vector<float>{1})});
  // With a tensor left over in the file skipping would not do.
  EXPECT_THAT(CopyWeights(*to, {}, arrays, "w.pt"),
              FailsWith(StatusCode::kFailedPrecondition, "(extra); 2 do not fit"));
  EXPECT_THAT(CopyWeights(*to, {}, arrays, "w.pt").status().message(),
              testing::Not(testing::HasSubstr("skip:")));
}

// "1.weight" is also the end of "deep.1.weight".
TEST(CopyWeights, AdvisesNoPrefixWhereTheNamesAreThereAsTheyAre) {
  const auto from = Net(1, /*classes=*/10), to = Net(2);
  std::vector<NamedArray> arrays = Arrays(*from);
  arrays.insert(arrays.begin(), {"deep.1.weight", Array::Of(std::vector<float>{1})});
  const auto report = CopyWeights(*to, {}, arrays, "w.pt");
  EXPECT_THAT(report, FailsWith(StatusCode::kFailedPrecondition, "take what fits"));
  EXPECT_THAT(report.status().message(), testing::Not(testing::HasSubstr("give prefix")));
  EXPECT_THAT(CopyWeights(*to, {}, Arrays(*from, "module."), "w.pt"),
              FailsWith(StatusCode::kFailedPrecondition, "give prefix: \"module.\""));
}

TEST(CopyWeights, RefusesValuesThatAreNotFiniteAndCopiesNothing) {
  const auto from = Net(1), to = Net(2), untouched = Net(2);
  const NamedTensors tensors = StateOf(*from);
  {
    const torch::NoGradGuard no_grad;
    tensors[2].tensor.view(-1)[3] = std::numeric_limits<float>::infinity();
    tensors[2].tensor.view(-1)[5] = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_THAT(CopyWeights(*to, {}, Arrays(*from), "w.pt"),
              FailsWith(StatusCode::kDataLoss,
                        "w.pt: 2 of the 64 values of what becomes '3.weight' are NaN or infinite"));
  EXPECT_TRUE(Same(*to, *untouched, "1.weight"));
  STOKER_EXPECT_OK(CopyWeights(*to, {.skip = {"3.weight"}}, Arrays(*from), "w.pt"));
}

TEST(CopyWeights, TakesAPrefixOffAndRenames) {
  const auto from = Net(1), to = Net(2);
  std::vector<NamedArray> arrays = Arrays(*from, "state_dict.module.");
  arrays.push_back({"optimizer.0", Array::Of(std::vector<float>{1})});
  EXPECT_THAT(CopyWeights(*to, {}, arrays, "w.pt"),
              FailsWith(StatusCode::kFailedPrecondition, "give prefix: \"state_dict.module.\""));
  STOKER_ASSERT_OK(CopyWeights(*to, {.prefix = "state_dict.module."}, arrays, "w.pt"));
  EXPECT_TRUE(Same(*to, *from, "3.weight"));
  arrays = Arrays(*from, "encoder.");
  const auto again = Net(3);
  STOKER_ASSERT_OK(CopyWeights(*again, {.rename = {"encoder.="}}, arrays, "w.pt"));
  EXPECT_TRUE(Same(*again, *from, "3.weight"));
}

TEST(CopyWeights, RefusesRulesThatDoNothingOrGiveOneNameTwice) {
  const auto from = Net(1), to = Net(2);
  const auto copy = [&](std::vector<std::string> rename) {
    return CopyWeights(*to, {.rename = std::move(rename)}, Arrays(*from), "w.pt");
  };
  EXPECT_THAT(copy({"1."}), FailsWith(StatusCode::kInvalidArgument, "'1.' must say OLD=NEW"));
  EXPECT_THAT(copy({"head.=3."}),
              FailsWith(StatusCode::kInvalidArgument, "no name in the file begins with 'head.'"));
  EXPECT_THAT(copy({"1.=3."}), FailsWith(StatusCode::kInvalidArgument, "would both be called '3."));
}

TEST(CopyWeights, ConvertsFloatingPointTypesAndNothingElse) {
  const auto from = Net(1), to = Net(2);
  NamedTensors tensors = StateOf(*from);
  for (NamedTensor& named : tensors) named.tensor = named.tensor.to(torch::kHalf);
  STOKER_ASSERT_OK(CopyWeights(*to, {}, *ToNamedArrays(tensors), "w.pt"));
  EXPECT_TRUE(torch::equal(StateOf(*to)[0].tensor, tensors[0].tensor.to(torch::kFloat)));
  for (NamedTensor& named : tensors) named.tensor = named.tensor.to(torch::kInt);
  EXPECT_THAT(CopyWeights(*to, {}, *ToNamedArrays(tensors), "w.pt"),
              FailsWith(StatusCode::kFailedPrecondition, "4 do not fit"));
}

// As PyTorch takes weights of before version 0.4.1.
TEST(CopyWeights, TakesBatchNormsWithoutTheirCounters) {
  const auto from = Built(Convnet{.classes = 4}, 1), to = Built(Convnet{.classes = 4}, 2);
  std::vector<NamedArray> arrays = Arrays(*from);
  std::erase_if(arrays, [](const NamedArray& a) { return a.name.ends_with("tracked"); });
  STOKER_ASSERT_OK_AND_ASSIGN(const InitReport report, CopyWeights(*to, {}, arrays, "w.pt"));
  EXPECT_TRUE(report.fits());
  EXPECT_EQ(report.taken, report.all - 3);
}

TEST(CopyWeights, AnArrayOfATypeThatStokerLacksIsAnErrorOnlyWhereTheModelNeedsIt) {
  const auto from = Net(1), to = Net(2), untouched = Net(2);
  std::vector<NamedArray> arrays = Arrays(*from, "net.");
  const std::vector<SafetensorsEntry> beside = {
      {.name = "ids", .dtype = {}, .shape = {2}, .type = "U32"}};
  STOKER_ASSERT_OK_AND_ASSIGN(const InitReport report,
                              CopyWeights(*to, {.prefix = "net."}, arrays, "w", beside));
  EXPECT_TRUE(report.fits());
  EXPECT_TRUE(Same(*to, *from, "3.bias"));

  const std::vector<SafetensorsEntry> bias = {
      {.name = "net.3.bias", .dtype = {}, .shape = {4}, .type = "F8_E4M3"}};
  std::erase_if(arrays, [](const NamedArray& array) { return array.name == "net.3.bias"; });
  const auto other = Net(2);
  EXPECT_THAT(
      CopyWeights(*other, {.prefix = "net."}, arrays, "w", bias),
      FailsWith(StatusCode::kFailedPrecondition,
                "3.bias is F8_E4M3[4], a type that Stoker lacks, the model has float32[4]"));
  EXPECT_TRUE(Same(*other, *untouched, "1.weight"));
  EXPECT_THAT(CopyWeights(*other, {.prefix = "net.", .skip = {"3.bias"}}, arrays, "w", bias),
              IsOk());
  EXPECT_TRUE(Same(*other, *untouched, "3.bias"));
  EXPECT_TRUE(Same(*other, *from, "1.weight"));
}

TEST(CopyWeights, RefusesAFileOfWhichNothingFitsEvenPartially) {
  const auto to = Net(2);
  const std::vector<NamedArray> other = {{"x", Array::Of(std::vector<float>{1})}};
  EXPECT_THAT(CopyWeights(*to, {.partial = true}, other, "w.pt"),
              FailsWith(StatusCode::kFailedPrecondition, "is this the right file"));
}

TEST(LoadWeights, KnowsFilesByWhatTheyHold) {
  const TempDir dir;
  const std::vector<NamedArray> arrays = Arrays(*Net(1));
  STOKER_ASSERT_OK(WritePt(dir / "a", arrays));
  STOKER_ASSERT_OK(WriteWeights(dir / "b", {.arrays = arrays, .sample = "1 x 8 x 8"}));
  WriteFileForTest(dir / "c", "hello\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const LoadedWeights pt, LoadWeights(dir / "a"));
  STOKER_ASSERT_OK_AND_ASSIGN(const LoadedWeights safetensors, LoadWeights(dir / "b"));
  EXPECT_EQ(pt.arrays.size(), 4u);
  EXPECT_EQ(safetensors.arrays.size(), 4u);
  EXPECT_EQ(safetensors.sample, "1 x 8 x 8");
  EXPECT_THAT(LoadWeights(dir / "c"),
              FailsWith(StatusCode::kInvalidArgument, "this is text; weights are read from"));
  EXPECT_THAT(LoadWeights(dir / "d"), FailsWith(StatusCode::kNotFound, "d"));
}

class InitFromTest : public testing::Test {
 protected:
  Result<TrainSummary> Train(const std::string& run, const std::vector<std::string>& set) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    return trainer->Run();
  }
  SmallProblem problem_;
};

TEST_F(InitFromTest, ARunBeginsWithTheWeightsOfAFileBesideItsRecipe) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary first, Train("first", {}));
  STOKER_ASSERT_OK_AND_ASSIGN(const LoadedWeights weights, LoadWeights(problem_ / "first"));
  STOKER_ASSERT_OK(WritePt(problem_ / "first.pt", weights.arrays));
  // A rate that moves nothing.
  STOKER_ASSERT_OK(Train("second", {"train.init_from={weights: " + (problem_ / "first.pt") + "}",
                                    "train.schedule={constant: {lr: 1.0e-30}}",
                                    "train.optimizer=sgd", "train.epochs=1"}));
  EXPECT_EQ(ReadFileForTest(problem_ / "second/weights.safetensors"),
            ReadFileForTest(problem_ / "first/weights.safetensors"));
  EXPECT_GT(first.best_accuracy, 0.5);
}

TEST_F(InitFromTest, WeightsThatDoNotFitAreFoundBeforeARunIsMade) {
  STOKER_ASSERT_OK(WritePt(problem_ / "other.pt", Arrays(*Net(1, 10))));
  EXPECT_THAT(Train("run", {"train.init_from=" + (problem_ / "other.pt")}),
              FailsWith(StatusCode::kFailedPrecondition, "train.init_from: "));
  EXPECT_FALSE(std::filesystem::exists(problem_ / "run"));
}

TEST_F(InitFromTest, AResumedRunNeedsTheFileNoMore) {
  STOKER_ASSERT_OK(Train("first", {"train.epochs=1"}));
  std::filesystem::rename(problem_ / "first/weights.safetensors", problem_ / "w.safetensors");
  const std::vector<std::string> set = {
      "train.init_from={weights: " + (problem_ / "w.safetensors") + "}"};
  std::vector<std::string> shorter = set;
  shorter.push_back("train.checkpoint.every_steps=4");
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(shorter));
  STOKER_ASSERT_OK_AND_ASSIGN(auto trainer, Trainer::Create(recipe, problem_ / "second"));
  Watcher watcher;
  watcher.stop_after = 4;
  STOKER_ASSERT_OK(trainer->Run(&watcher, &watcher.stop));
  trainer.reset();
  std::filesystem::remove(problem_ / "w.safetensors");
  STOKER_ASSERT_OK_AND_ASSIGN(auto resumed,
                              Trainer::Resume(std::move(recipe), problem_ / "second"));
  STOKER_ASSERT_OK(resumed->Run());
}

TEST_F(InitFromTest, APathInTheRecipeIsRelativeToTheRecipe) {
  WriteFileForTest(problem_ / "with.yaml",
                   std::string(kSmallRecipe) + "  init_from: {weights: sub/../w.pt}\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, LoadRecipe(problem_ / "with.yaml"));
  EXPECT_EQ(recipe.train.init_from.weights, problem_ / "w.pt");
}

}  // namespace stoker::initial_weights_test
