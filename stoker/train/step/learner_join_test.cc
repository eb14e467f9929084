// Steps of a Learner that several ranks make together.
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"
#include "stoker/run/testing.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/step/learner.h"

namespace stoker::learner_join_test {

class LearnerJoinTest : public testing::Test {
 protected:
  std::unique_ptr<Learner> Make(const std::string& loss = "cross_entropy") {
    at::set_num_threads(1);
    const Result<Recipe> recipe =
        problem_.Load({"model={mlp: {classes: 4, hidden: [16], dropout: 0}}", "train.optimizer=sgd",
                       fmt::format("train.loss={}", loss)});
    EXPECT_THAT(recipe, IsOk());
    auto learner = Learner::Create(*recipe, {.channels = 1, .height = 8, .width = 8}, {});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }

  std::unique_ptr<Learner> MakeFor(Group& group, const std::string& loss = "cross_entropy") {
    std::unique_ptr<Learner> learner = Make(loss);
    learner->JoinWith(
        std::make_unique<GradientExchange>(group, learner->model().parameters(), 4096), 11);
    return learner;
  }

  static TensorBatch Batch(int64_t samples) {
    torch::manual_seed(9);
    return {.input = torch::randn({samples, 1, 8, 8}),
            .target = torch::randint(4, {samples}, torch::kLong)};
  }
  static TensorBatch Part(const TensorBatch& batch, int64_t begin, int64_t end) {
    return {.input = batch.input.slice(0, begin, end), .target = batch.target.slice(0, begin, end)};
  }
  static void ExpectSameWeights(Learner& a, Learner& b) {
    const NamedTensors of_a = StateOf(a.model()), of_b = StateOf(b.model());
    for (size_t i = 0; i < of_a.size(); ++i) {
      EXPECT_TRUE(torch::allclose(of_a[i].tensor, of_b[i].tensor, 1e-5, 1e-7)) << of_a[i].name;
    }
  }

  static constexpr ScheduleValue kNow{.lr = .5, .momentum = {}};
  SmallProblem problem_;
};

TEST_F(LearnerJoinTest, PartsOfAnySizeMakeTheStepOfOneBatch) {
  for (const char* loss : {"cross_entropy", "{cross_entropy: {weights: [1, 2, 3, 4]}}"}) {
    SCOPED_TRACE(loss);
    // Where each rank's part of 11 samples ends: uneven, and none at all.
    for (const std::vector<int64_t>& ends :
         {std::vector<int64_t>{3, 7, 11}, {9, 10, 11}, {0, 11, 11}}) {
      AsRanks(3, [&](Group& group) {
        const auto rank = static_cast<size_t>(group.membership().rank);
        const auto whole = Make(loss), part = MakeFor(group, loss);
        const TensorBatch batch = Batch(11);
        STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss_of_whole, whole->Step(batch, kNow));
        STOKER_ASSERT_OK(part->Backward(Part(batch, rank == 0 ? 0 : ends[rank - 1], ends[rank])));
        STOKER_ASSERT_OK_AND_ASSIGN(const StepTotals all, part->Join({.samples = 1}));
        EXPECT_EQ(all.samples, 3);
        EXPECT_EQ(all.failed, 0);
        STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss_of_all, part->Update(kNow, 1));
        EXPECT_NEAR(loss_of_all.item<double>(), loss_of_whole.item<double>(), 1e-6);
        ExpectSameWeights(*part, *whole);
      });
    }
  }
}

TEST_F(LearnerJoinTest, ALossThatIsNotFiniteOnOneRankBreaksTheStepOfAllWhoSayWhose) {
  AsRanks(2, [&](Group& group) {
    const auto learner = MakeFor(group), untouched = Make();
    TensorBatch batch = Batch(4);
    if (group.membership().rank == 1) batch.input[2][0][0][0] = NAN;
    STOKER_ASSERT_OK(learner->Backward(batch));
    STOKER_ASSERT_OK(learner->Join({}));
    STOKER_ASSERT_OK(learner->Update(kNow, 1));
    EXPECT_EQ(learner->outcome(), StepOutcome::kBroken);
    EXPECT_THAT(learner->why(), testing::StartsWith("rank 1: the loss is nan; "));
    ExpectSameWeights(*learner, *untouched);
    // The next step is as if there had been none.
    STOKER_ASSERT_OK(learner->Backward(Batch(4)));
    STOKER_ASSERT_OK(learner->Join({}));
    STOKER_ASSERT_OK(learner->Update(kNow, 2));
    EXPECT_EQ(learner->outcome(), StepOutcome::kMoved);
    EXPECT_EQ(learner->why(), "");
  });
}

TEST_F(LearnerJoinTest, ARankThatHasFailedIsCountedByAll) {
  AsRanks(3, [&](Group& group) {
    const bool fails = group.membership().rank == 2;
    const auto learner = MakeFor(group);
    STOKER_ASSERT_OK(fails ? OkStatus() : learner->Backward(Batch(4)));
    STOKER_ASSERT_OK_AND_ASSIGN(const StepTotals all,
                                learner->Join({.failed = fails ? 1 : 0, .stopped = 1}));
    EXPECT_EQ(all.failed, 1);
    EXPECT_EQ(all.stopped, 3);
  });
}

}  // namespace stoker::learner_join_test
