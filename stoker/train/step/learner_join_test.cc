// Steps of a Learner that several ranks make together.
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"
#include "stoker/run/testing.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/step/learner.h"

namespace stoker::learner_join_test {

// What is learnt, and how.
struct Of {
  std::string model = "{mlp: {classes: 4, hidden: [16], dropout: 0}}";
  std::string loss = "cross_entropy";
  std::vector<std::string> set = {};
  MemoryFormat layout = MemoryFormat::kContiguous;
  double tolerance = 1e-5;  // of a weight after a step, where sums are rounded otherwise
};

class LearnerJoinTest : public testing::Test {
 protected:
  std::unique_ptr<Learner> Make(const Of& of = {}, Group* group = nullptr) {
    at::set_num_threads(1);
    std::vector<std::string> set = {"model=" + of.model, "train.optimizer=sgd",
                                    "train.loss=" + of.loss};
    set.insert(set.end(), of.set.begin(), of.set.end());
    const Result<Recipe> recipe = problem_.Load(set);
    EXPECT_THAT(recipe, IsOk());
    auto learner =
        Learner::Create(*recipe, {.channels = 1, .height = 8, .width = 8},
                        {.memory_format = of.layout}, {}, {.group = group, .divisor = 11});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }

  std::unique_ptr<Learner> MakeFor(Group& group, Of of = {}) {
    of.set.emplace_back("train.distributed.bucket_mb=0.004");
    std::unique_ptr<Learner> learner = Make(of, &group);
    EXPECT_THAT(learner->Connect(), IsOk());
    return learner;
  }

  // Makes one step of 11 samples, whole on each rank, and together: rank r has those from
  // ends[r - 1] to ends[r].
  void ExpectStepOfOne(Group& group, const Of& of, const std::vector<int64_t>& ends) {
    const auto rank = static_cast<size_t>(group.membership().rank);
    const auto whole = Make(of), part = MakeFor(group, of);
    TensorBatch batch = Batch(11);
    batch.input = batch.input.only().contiguous(ToTorch(of.layout));
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss_of_whole, whole->Step(batch, kNow));
    STOKER_ASSERT_OK(part->Backward(Part(batch, rank == 0 ? 0 : ends[rank - 1], ends[rank])));
    STOKER_ASSERT_OK_AND_ASSIGN(const StepTotals all, part->Join({.samples = 1}));
    EXPECT_EQ(all.samples, std::ssize(ends));
    EXPECT_EQ(all.failed, 0);
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss_of_all, part->Update(kNow, 1));
    EXPECT_NEAR(loss_of_all.item<double>(), loss_of_whole.item<double>(), 1e-5);
    ExpectSameWeights(*part, *whole, of.tolerance);
    ExpectSameBytesEverywhere(group, *part);
  }

  // Weights and running moments of all ranks are those of rank 0.
  static void ExpectSameBytesEverywhere(Group& group, Learner& learner) {
    for (const auto& [name, tensor] : StateOf(learner.model())) {
      at::Tensor first = tensor.detach().clone().contiguous();
      STOKER_ASSERT_OK(group.Broadcast(first, 0, "the weights"));
      EXPECT_TRUE(at::equal(first, tensor)) << name;
    }
  }

  static TensorBatch Batch(int64_t samples) {
    torch::manual_seed(9);
    return {.input = torch::randn({samples, 1, 8, 8}),
            .target = torch::randint(4, {samples}, torch::kLong)};
  }
  static TensorBatch Part(const TensorBatch& batch, int64_t begin, int64_t end) {
    return {.input = batch.input.Rows(begin, end - begin),
            .target = batch.target.Rows(begin, end - begin)};
  }
  static void ExpectSameWeights(Learner& a, Learner& b, double tolerance = 1e-5) {
    const NamedTensors of_a = StateOf(a.model()), of_b = StateOf(b.model());
    for (size_t i = 0; i < of_a.size(); ++i) {
      EXPECT_TRUE(torch::allclose(of_a[i].tensor, of_b[i].tensor, tolerance, tolerance / 100))
          << of_a[i].name;
    }
  }

  static constexpr ScheduleValue kNow{.lr = .5, .momentum = {}};
  SmallProblem problem_;
};

// Where each rank's part of 11 samples ends: uneven, and none at all.
const std::vector<int64_t> kEnds[] = {{3, 7, 11}, {9, 10, 11}, {0, 11, 11}};

TEST_F(LearnerJoinTest, PartsOfAnySizeMakeTheStepOfOneBatch) {
  for (const char* loss : {"cross_entropy", "{cross_entropy: {weights: [1, 2, 3, 4]}}"}) {
    SCOPED_TRACE(loss);
    for (const std::vector<int64_t>& ends : kEnds)
      AsRanks(3, [&](Group& group) { ExpectStepOfOne(group, {.loss = loss}, ends); });
  }
}

TEST_F(LearnerJoinTest, BatchNormsTakeTheRowsOfAllRanks) {
  const std::vector<std::string> checkpointed = {"train.activation_checkpointing=[\"*\"]"};
  const std::string convnet = "{convnet: {classes: 4, channels: [6, 5]}}";
  const std::pair<const char*, Of> cases[] = {
      {"plain", {.model = convnet, .tolerance = 1e-4}},
      {"fused", {.model = convnet, .layout = MemoryFormat::kChannelsLast, .tolerance = 1e-4}},
      {"made again", {.model = convnet, .set = checkpointed, .tolerance = 1e-4}},
      {"fused and made again",
       {.model = convnet,
        .set = checkpointed,
        .layout = MemoryFormat::kChannelsLast,
        .tolerance = 1e-4}},
      // Its last norms see a value or two of each sample.
      {"resnet18", {.model = "{resnet18: {classes: 4, stem: small}}", .tolerance = 1e-2}}};
  for (const auto& [name, of] : cases) {
    SCOPED_TRACE(name);
    for (const std::vector<int64_t>& ends : kEnds)
      AsRanks(3, [&, &of = of](Group& group) { ExpectStepOfOne(group, of, ends); });
  }
}

TEST_F(LearnerJoinTest, DropoutDrawsForASampleWhatOneProcessDraws) {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{}, {"train.activation_checkpointing=[\"*\"]"}}) {
    for (const std::vector<int64_t>& ends : kEnds) {
      AsRanks(3, [&](Group& group) {
        ExpectStepOfOne(
            group, {.model = "{mlp: {classes: 4, hidden: [16, 16], dropout: 0.4}}", .set = set},
            ends);
      });
    }
  }
}

TEST_F(LearnerJoinTest, EachRanksNormsAreItsOwnIfTheRecipeSaysSo) {
  AsRanks(2, [&](Group& group) {
    const Of of{.model = "{convnet: {classes: 4, channels: [6]}}"};
    const Of alone{.model = of.model, .set = {"train.distributed.sync_batch_norm=false"}};
    const auto whole = Make(of), part = MakeFor(group, alone);
    const TensorBatch batch = Batch(11);
    STOKER_ASSERT_OK(
        part->Backward(Part(batch, group.membership().rank * 5, 5 + group.membership().rank * 6)));
    STOKER_ASSERT_OK(whole->Backward(batch));
    EXPECT_FALSE(at::allclose(whole->model().buffers()[0], part->model().buffers()[0]));
    STOKER_ASSERT_OK(part->Join({}));
  });
}

// The pass of the others waits for its norms.
TEST_F(LearnerJoinTest, ARankThatCannotMakeThePassEndsThatOfTheOthers) {
  AsRanks(3, [&](Group& group) {
    const bool fails = group.membership().rank == 1;
    const auto learner = MakeFor(group, {.model = "{convnet: {classes: 4, channels: [6]}}"});
    if (!fails) {
      EXPECT_THAT(learner->Backward(Batch(4)), FailsWith(StatusCode::kUnavailable, "batch norms"));
    }
    EXPECT_EQ(learner->left(), !fails);
    STOKER_ASSERT_OK_AND_ASSIGN(const StepTotals all, learner->Join({.failed = fails ? 1 : 0}));
    EXPECT_EQ(all.failed, 1);
  });
}

TEST_F(LearnerJoinTest, ALossThatIsNotFiniteOnOneRankDoesNotHoldUpItsNorms) {
  AsRanks(2, [&](Group& group) {
    const auto learner = MakeFor(group, {.model = "{convnet: {classes: 4, channels: [6]}}"});
    TensorBatch batch = Batch(4);
    if (group.membership().rank == 1) batch.input.only()[2][0][0][0] = NAN;
    STOKER_ASSERT_OK(learner->Backward(batch));
    STOKER_ASSERT_OK(learner->Join({}));
    STOKER_ASSERT_OK(learner->Update(kNow, 1));
    EXPECT_EQ(learner->outcome(), StepOutcome::kBroken);
  });
}

TEST_F(LearnerJoinTest, ALossThatIsNotFiniteOnOneRankBreaksTheStepOfAllWhoSayWhose) {
  AsRanks(2, [&](Group& group) {
    const auto learner = MakeFor(group), untouched = Make();
    TensorBatch batch = Batch(4);
    if (group.membership().rank == 1) batch.input.only()[2][0][0][0] = NAN;
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

// Steps that each rank makes alone.
class LocalStepsTest : public LearnerJoinTest {
 protected:
  static std::vector<std::string> Local(int64_t steps) {
    return {fmt::format("train.distributed.local_steps={}", steps),
            "train.optimizer={sgd: {momentum: 0.9}}", "train.average={kind: ema, decay: 0.5}"};
  }
  // Rank r has the rows from ends[r - 1] to ends[r] of `batch`.
  static TensorBatch PartOf(const TensorBatch& batch, const std::vector<int64_t>& ends,
                            size_t rank) {
    return Part(batch, rank == 0 ? 0 : ends[rank - 1], ends[rank]);
  }
  static void MakeStep(Learner& learner, const TensorBatch& part, int64_t step) {
    learner.BeginStep(step);
    STOKER_ASSERT_OK(learner.Backward(part));
    STOKER_ASSERT_OK(learner.Join({.samples = part.size()}));
    STOKER_ASSERT_OK(learner.Update(kNow, step));
  }
  // What each of the ranks has, that learned alone from its rows in each of the steps.
  std::vector<NamedTensors> StatesAlone(const std::vector<int64_t>& ends, int64_t steps) {
    std::vector<NamedTensors> states;
    for (size_t rank = 0; rank < ends.size(); ++rank) {
      const auto alone = Make({.set = Local(1)});
      const TensorBatch part = PartOf(Batch(11), ends, rank);
      for (int64_t step = 1; step <= steps && part.size() > 0; ++step)
        STOKER_EXPECT_OK(alone->Step(part, kNow, step));
      states.push_back(alone->State());
    }
    return states;
  }
};

TEST_F(LocalStepsTest, AverageWhatRanksHaveLearnedApartByTheirSamples) {
  for (const std::vector<int64_t>& ends : kEnds) {
    const std::vector<NamedTensors> alone = StatesAlone(ends, 3);
    AsRanks(3, [&](Group& group) {
      const auto rank = static_cast<size_t>(group.membership().rank);
      const auto learner = MakeFor(group, {.set = Local(3)});
      for (int64_t step = 1; step <= 3; ++step) {
        EXPECT_FALSE(learner->average_due());
        MakeStep(*learner, PartOf(Batch(11), ends, rank), step);
      }
      EXPECT_TRUE(learner->average_due());
      STOKER_ASSERT_OK(learner->AverageRanks());
      EXPECT_FALSE(learner->average_due());
      ExpectSameBytesEverywhere(group, *learner);
      const NamedTensors all = learner->State();
      for (size_t i = 0; i < all.size(); ++i) {
        at::Tensor mean = at::zeros_like(all[i].tensor, at::kDouble);
        for (size_t r = 0; r < ends.size(); ++r) {
          const int64_t rows = ends[r] - (r == 0 ? 0 : ends[r - 1]);
          mean += alone[r][i].tensor.to(at::kDouble) * (static_cast<double>(rows) / 11);
        }
        if (all[i].name == "averaging.updates") continue;  // ranks without rows count them too
        EXPECT_TRUE(at::allclose(all[i].tensor.to(at::kDouble), mean, 1e-5, 1e-7)) << all[i].name;
      }
    });
  }
}

TEST_F(LocalStepsTest, TheLossOfAStepIsThatOfAllRowsAndOthersAreNotTold) {
  AsRanks(2, [&](Group& group) {
    const auto rank = static_cast<size_t>(group.membership().rank);
    const auto whole = Make(), part = MakeFor(group, {.set = Local(4)});
    const TensorBatch batch = Batch(11);
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss_of_whole, whole->Step(batch, kNow));
    STOKER_ASSERT_OK(part->Backward(PartOf(batch, {4, 11}, rank)));
    STOKER_ASSERT_OK(part->Join({}));
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss, part->Update(kNow, 1));
    EXPECT_NEAR(loss.item<double>(), loss_of_whole.item<double>(), 1e-5);
    at::Tensor first = part->model().parameters()[0].detach().clone();
    STOKER_ASSERT_OK(group.Broadcast(first, 0, "the weights"));
    EXPECT_EQ(at::equal(first, part->model().parameters()[0]), rank == 0);
  });
}

TEST_F(LocalStepsTest, AGradientThatIsNotFiniteOnOneRankBreaksTheStepOfAll) {
  AsRanks(2, [&](Group& group) {
    const auto learner = MakeFor(group, {.set = Local(4)}), untouched = Make();
    learner->Check({.gradients = true});
    STOKER_ASSERT_OK(learner->Backward(Batch(4)));
    if (group.membership().rank == 1)
      learner->model().parameters()[0].mutable_grad().view(-1)[3] = INFINITY;
    STOKER_ASSERT_OK(learner->Join({}));
    STOKER_ASSERT_OK(learner->Update(kNow, 1));
    EXPECT_EQ(learner->outcome(), StepOutcome::kBroken);
    EXPECT_THAT(learner->why(), testing::StartsWith("rank 1: "));
    ExpectSameWeights(*learner, *untouched);
  });
}

TEST_F(LocalStepsTest, WeightsThatAreNotFiniteOnOneRankAreFoundByAllInTheMean) {
  AsRanks(2, [&](Group& group) {
    const auto learner = MakeFor(group, {.set = Local(2)});
    learner->Check({.gradients = true});
    MakeStep(*learner, Batch(4), 1);
    EXPECT_EQ(learner->outcome(), StepOutcome::kMoved);
    {
      const at::NoGradGuard no_grad;
      if (group.membership().rank == 1) learner->model().parameters()[0].view(-1)[3] = NAN;
    }
    STOKER_ASSERT_OK(learner->AverageRanks());
    EXPECT_EQ(learner->outcome(), StepOutcome::kBrokeWeights);
  });
}

TEST_F(LocalStepsTest, AMeanOfNoStepsChangesNothing) {
  AsRanks(2, [&](Group& group) {
    const auto learner = MakeFor(group, {.set = Local(2)}), untouched = Make();
    STOKER_ASSERT_OK(learner->AverageRanks());
    ExpectSameWeights(*learner, *untouched, 0);
  });
}

}  // namespace stoker::learner_join_test
