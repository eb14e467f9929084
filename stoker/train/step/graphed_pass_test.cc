#include "stoker/train/step/graphed_pass.h"

#include <torch/utils.h>

#include "stoker/device/accelerator.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/step/graph_testing.h"
#include "stoker/train/step/learner.h"

namespace stoker::graphed_pass_test {

using testing::HasSubstr;
using testing::IsEmpty;

class GraphedPassTest : public TrainerTest {
 protected:
  std::unique_ptr<Learner> Make() {
    const Result<Recipe> recipe = problem_.Load({"model={convnet: {classes: 4, channels: [8]}}"});
    EXPECT_THAT(recipe, IsOk());
    auto learner = Learner::Create(*recipe, {.channels = 1, .height = 8, .width = 8}, {});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }
  static TensorBatch Batch(int64_t samples, int64_t number) {
    torch::manual_seed(static_cast<uint64_t>(number));
    return {.input = torch::randn({samples, 1, 8, 8}),
            .target = torch::randint(4, {samples}, torch::kLong)};
  }
  // Steps of these sizes; gives the losses.
  static std::vector<double> Steps(Learner& learner, const std::vector<int64_t>& sizes) {
    std::vector<double> losses;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto loss = learner.Step(Batch(sizes[i], std::ssize(losses)),
                                     {.lr = 0.01, .momentum = {}}, static_cast<int64_t>(i) + 1);
      EXPECT_THAT(loss, IsOk());
      losses.push_back(loss.ok() ? loss->item<double>() : NAN);
    }
    return losses;
  }
  static void ExpectSameState(Learner& a, Learner& b) {
    const NamedTensors expected = StateOf(a.model()), found = StateOf(b.model());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(torch::equal(expected[i].tensor, found[i].tensor)) << expected[i].name;
    }
  }
};

TEST_F(GraphedPassTest, TrainsToTheSameBitsAndLeavesARaggedBatchToTheUsualWay) {
  const std::vector<int64_t> sizes = {8, 8, 8, 8, 8, 3, 8, 8, 3, 8};
  const auto plain = Make(), recorded = Make();
  int replays = 0;
  recorded->UseGraph(std::make_unique<FakeGraph>(recorded->model().buffers(), replays));
  const std::vector<double> losses = Steps(*plain, sizes);
  EXPECT_EQ(Steps(*recorded, sizes), losses);
  ExpectSameState(*plain, *recorded);
  EXPECT_EQ(replays, 5);  // of the 8 batches of 8, three were for warming up
  EXPECT_THAT(recorded->TakeGraphNote(),
              HasSubstr("batches of [3, 1, 8, 8] are done in the usual"));
  EXPECT_THAT(recorded->TakeGraphNote(), IsEmpty());
}

TEST_F(GraphedPassTest, GoesOnInTheUsualWayWhereRecordingFailsAndSaysWhyOnce) {
  const std::vector<int64_t> sizes(6, 8);
  const auto recorded = Make();
  recorded->UseGraph(std::make_unique<UnrecordableGraph>());
  for (const double loss : Steps(*recorded, sizes)) EXPECT_TRUE(std::isfinite(loss));
  EXPECT_THAT(recorded->TakeGraphNote(), HasSubstr("not permitted while recording"));
  EXPECT_THAT(recorded->TakeGraphNote(), IsEmpty());
}

TEST(GraphObstacle, IsWhatTheRecipeAsksForBeside) {
  EXPECT_THAT(GraphObstacle({}), IsEmpty());
  EXPECT_THAT(GraphObstacle({.accumulate = 2}), HasSubstr("accumulate"));
  EXPECT_THAT(GraphObstacle({.detect_anomaly = true}), HasSubstr("detect_anomaly"));
  EXPECT_THAT(GraphObstacle({.activation_checkpointing = {"*"}}),
              HasSubstr("activation_checkpointing"));
}

TEST_F(GraphedPassTest, ARunWithoutADeviceForItSaysSoAndTrainsAsEver) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "the test is about the CPU";
  Watcher plain, asked;
  STOKER_ASSERT_OK(Train("plain", {"train.graph=auto"}, &plain).status());
  STOKER_ASSERT_OK(Train("asked", {"train.graph=on"}, &asked).status());
  EXPECT_EQ(WeightsOf("plain"), WeightsOf("asked"));
  EXPECT_THAT(plain.start.warnings, testing::Not(testing::Contains(HasSubstr("train.graph"))));
  EXPECT_THAT(asked.start.warnings,
              testing::Contains(HasSubstr("train.graph: passes are not recorded: cpu has no")));
  Watcher hindered;
  STOKER_ASSERT_OK(Train("hindered", {"train.graph=on", "train.accumulate=2"}, &hindered).status());
  EXPECT_THAT(hindered.start.warnings,
              testing::Contains(HasSubstr("accumulate adds the gradients")));
}

TEST_F(GraphedPassTest, OnADeviceTrainsAsWithoutIt) {
  const Result<OpenedDevice> device = OpenDevice("cuda");
  if (!device.ok()) GTEST_SKIP() << "no CUDA device: " << device.status().message();
  const std::vector<std::string> set = {"train.device=cuda",
                                        "model={mlp: {classes: 4, hidden: [16], dropout: 0}}"};
  std::vector<std::string> recorded = set;
  recorded.emplace_back("train.graph=on");
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary plain, Train("plain", set));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary as_graph, Train("graph", recorded, &watcher));
  EXPECT_THAT(watcher.start.warnings, testing::Not(testing::Contains(HasSubstr("train.graph"))));
  ASSERT_TRUE(plain.last_evaluation && as_graph.last_evaluation);
  EXPECT_NEAR(as_graph.last_evaluation->loss, plain.last_evaluation->loss, 1e-4);
}

}  // namespace stoker::graphed_pass_test
