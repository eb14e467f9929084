#include "stoker/train/plan/normalize_place.h"

#include <torch/utils.h>

#include "stoker/data/ops/take.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/feeder.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/tune/step_timer.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker::normalize_place_test {

using testing::Each;
using testing::HasSubstr;

class NormalizePlaceTest : public TrainerTest {
 protected:
  static std::string Stages(const std::string& after_source) {
    return "data.train=[{idx: {images: train-images, labels: train-labels}}, " + after_source + "]";
  }
  // All inputs of an epoch, one after the other.
  static at::Tensor InputsOf(const Recipe& recipe, const PlacedPipeline& placed,
                             MemoryFormat format) {
    FeederOptions options = FeedOptions(recipe.train.options, placed.dataset, c10::kCPU, format);
    NormalizeField(recipe.train.options.input, placed.normalize, options);
    auto elements = placed.dataset.Open(Runtime::Threaded(2), {.seed = 3});
    EXPECT_THAT(elements, IsOk());
    auto feeder = Feeder::Create(*std::move(elements), placed.dataset.spec(), options);
    EXPECT_THAT(feeder, IsOk());
    std::vector<at::Tensor> inputs;
    while (true) {
      auto batch = (*feeder)->Next();
      EXPECT_THAT(batch, IsOk());
      if (!batch.ok() || !*batch) break;
      const at::Tensor& input = (*batch)->input.only();
      EXPECT_EQ(input.scalar_type(), at::kFloat);
      if (input.dim() == 4) {
        EXPECT_TRUE(input.is_contiguous(ToTorch(format)));
      }
      inputs.push_back(input);
    }
    return torch::cat(inputs);
  }
  static std::optional<Alternative> AlternativeOf(const std::vector<Knob>& knobs,
                                                  const Choices& best) {
    for (const Knob& knob : knobs) {
      for (const Alternative& alternative : knob.alternatives(best)) {
        if (alternative.change == "normalize_on: host") return alternative;
      }
    }
    return std::nullopt;
  }
};

TEST_F(NormalizePlaceTest, TheDeviceGivesTheBitsOfThePipeline) {
  struct Case {
    const char* images;  // their shape
    const char* stages;
  };
  for (const auto& [images, stages] :
       {Case{"grey",
             "shuffle, {normalize: {mean: 0.37, std: 0.21}}, {batch: {size: 16}}, prefetch"},
        Case{"grey", "{batch: {size: 16}}, {normalize: {mean: 0.37, std: 0.21}}, prefetch"},
        Case{"colour",
             "{normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}}, "
             "{batch: {size: 7}}"},
        Case{"colour",
             "random_flip, {normalize: {mean: [0.485, 0.456, 0.406], std: 0.2}}, "
             "layout, {batch: {size: 7, drop_remainder: true}}, prefetch"}}) {
    SCOPED_TRACE(stages);
    if (std::string_view(images) == "colour") {
      const Array grey = QuadrantImages(96);
      Array colour = Array::Allocate(DType::kUInt8, {32, 3, 8, 8});
      std::memcpy(colour.data(), grey.data(), grey.num_bytes());
      STOKER_ASSERT_OK(WriteIdx(problem_ / "train-images", colour));
      STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", QuadrantLabels(32)));
    }
    for (const MemoryFormat format : {MemoryFormat::kContiguous, MemoryFormat::kChannelsLast}) {
      STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe,
                                  problem_.Load({Stages(stages), "train.normalize_on=device"}));
      STOKER_ASSERT_OK_AND_ASSIGN(const PlacedPipeline on_device, PlaceTrain(recipe, c10::kCPU));
      EXPECT_EQ(on_device.dataset.spec().fields[0].dtype, DType::kUInt8);
      EXPECT_FALSE(on_device.normalize.empty());
      recipe.train.options.normalize_on = "host";
      STOKER_ASSERT_OK_AND_ASSIGN(const PlacedPipeline on_host, PlaceTrain(recipe, c10::kCPU));
      EXPECT_TRUE(on_host.normalize.empty());
      const at::Tensor expected = InputsOf(recipe, on_host, format);
      EXPECT_GT(expected.numel(), 0);
      EXPECT_TRUE(torch::equal(expected, InputsOf(recipe, on_device, format)));
    }
  }
}

TEST_F(NormalizePlaceTest, RunsThatNormaliseHereAndThereEndWithTheSameWeights) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary host, Train("host", {"train.normalize_on=host"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary device,
                              Train("device", {"train.normalize_on=device"}));
  EXPECT_EQ(WeightsOf("host"), WeightsOf("device"));
  EXPECT_EQ(host.last_evaluation->loss, device.last_evaluation->loss);
  STOKER_ASSERT_OK(TrainUntil("stopped", 8, {"train.normalize_on=device"}).status());
  STOKER_ASSERT_OK(Resume("stopped", {"train.normalize_on=device"}).status());
  EXPECT_EQ(WeightsOf("stopped"), WeightsOf("host"));
}

TEST_F(NormalizePlaceTest, AutoKeepsToTheHostOnTheCpuAndLeavesItOnAnAccelerator) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem_.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const PlacedPipeline cpu, PlaceTrain(recipe, c10::kCPU));
  EXPECT_TRUE(cpu.normalize.empty());
  const c10::Device cuda(c10::kCUDA, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const PlacedPipeline accelerator, PlaceTrain(recipe, cuda));
  EXPECT_EQ(accelerator.normalize.size(), 1u);
  EXPECT_EQ(PlaceEval(recipe, cuda, {}).normalize.size(), 1u);
  EXPECT_TRUE(PlaceEval(recipe, cuda, {.normalize_on_host = true}).normalize.empty());
  EXPECT_TRUE(PlaceEval(recipe, c10::kCPU, {}).normalize.empty());
}

// The plan is an accelerator's, which needs none; what computes is the CPU.
TEST_F(NormalizePlaceTest, AutoIsTunedOnAnAcceleratorBetweenTwoPlacesThatGiveTheSameBits) {
  const c10::Device cuda(c10::kCUDA, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem_.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe, cuda));
  const Choices first = FirstChoices(recipe, plan, cuda);
  EXPECT_FALSE(first.normalize_on_host);
  const auto host = AlternativeOf(OpenKnobs(recipe, plan, cuda, first), first);
  ASSERT_TRUE(host);
  EXPECT_TRUE(host->choices.normalize_on_host);
  const PlacedPipeline here = plan.BatchesFor(host->choices), there = plan.BatchesFor(first);
  EXPECT_TRUE(here.normalize.empty());
  EXPECT_EQ(there.normalize.size(), 1u);
  EXPECT_TRUE(torch::equal(InputsOf(recipe, here, MemoryFormat::kContiguous),
                           InputsOf(recipe, there, MemoryFormat::kContiguous)));
  StepTimer timer(recipe, plan, c10::kCPU);
  STOKER_ASSERT_OK(timer.Begin(first, /*most_seconds=*/20).status());
  STOKER_ASSERT_OK_AND_ASSIGN(const ChoiceTimer::Compared compared,
                              timer.Compare(first, host->choices, StepKind::kWithData,
                                            /*seconds=*/0, /*most_seconds=*/1000));
  EXPECT_THAT(compared.best, Each(testing::Gt(0)));
  EXPECT_EQ(compared.best.size(), compared.other.size());
}

TEST_F(NormalizePlaceTest, IsNotTunedWhereTheRecipeOrThePipelineLeavesNoChoice) {
  const c10::Device cuda(c10::kCUDA, 0);
  for (const std::vector<std::string>& sets : {std::vector<std::string>{"train.normalize_on=host"},
                                               {"train.normalize_on=device"},
                                               {Stages("{cast: float32}, {batch: {size: 4}}")},
                                               {"train.overfit_batches=1"}}) {
    SCOPED_TRACE(sets.front());
    STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem_.Load(sets));
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe, cuda));
    const Choices first = FirstChoices(recipe, plan, cuda);
    EXPECT_FALSE(AlternativeOf(OpenKnobs(recipe, plan, cuda, first), first));
  }
}

// The text still tells of the pipeline that was there before.
TEST_F(NormalizePlaceTest, APipelineThatAProgramPutIntoTheRecipeIsTheOneThatIsRead) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load({"train.normalize_on=auto"}));
  const Choices choices;
  EXPECT_FALSE(PlaceEval(recipe, torch::kCUDA, choices).normalize.empty());
  STOKER_ASSERT_OK_AND_ASSIGN(recipe.data.train, Take{.count = 1}.Build(recipe.data.train));
  STOKER_ASSERT_OK_AND_ASSIGN(recipe.data.eval, Take{.count = 1}.Build(*recipe.data.eval));
  STOKER_ASSERT_OK_AND_ASSIGN(const PlacedPipeline train, PlaceTrain(recipe, torch::kCUDA));
  const PlacedPipeline eval = PlaceEval(recipe, torch::kCUDA, choices);
  for (const PlacedPipeline& placed : {train, eval}) {
    EXPECT_TRUE(placed.normalize.empty());
    EXPECT_EQ(placed.dataset.cardinality(), Cardinality::Of(1));
  }
}

TEST_F(NormalizePlaceTest, SaysWhatIsInTheWay) {
  struct Case {
    const char* stages;
    const char* says;
  };
  for (const auto& [stages, says] :
       {Case{"{normalize: {per_sample: true}}, {batch: {size: 4}}", "from each sample"},
        Case{"{cast: float32}, {batch: {size: 4}}", "'cast' stands after any normalize"},
        Case{"{normalize: {mean: 0.5}}, {random_erasing: {}}, {batch: {size: 4}}",
             "'random_erasing' stands after"},
        Case{"{cast: float32}, {normalize: {mean: 100, scale: 1}}, {batch: {size: 4}}",
             "no bytes"}}) {
    SCOPED_TRACE(stages);
    STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                                problem_.Load({Stages(stages), "train.normalize_on=device"}));
    const Status status = PlaceTrain(recipe, c10::kCPU).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("train.normalize_on: "));
    EXPECT_THAT(status.message(), HasSubstr(says));
    // Where it is left to us, the pipeline stays as it is written.
    Recipe left = recipe;
    left.train.options.normalize_on = "auto";
    STOKER_ASSERT_OK_AND_ASSIGN(const PlacedPipeline placed,
                                PlaceTrain(left, c10::Device(c10::kCUDA, 0)));
    EXPECT_TRUE(placed.normalize.empty());
  }
}

}  // namespace stoker::normalize_place_test
