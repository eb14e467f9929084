// The keys of `train:` whose values are learned: target and weights of classes.
#include "stoker/run/learned_train.h"

#include "stoker/base/testing.h"

namespace stoker::learned_train_test {

using testing::ElementsAre;
using testing::HasSubstr;

Result<TrainRecipe> Parsed(const std::string& train) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode root, ParseYaml("train:\n" + train, "r.yaml"));
  return ParseTrainSection(root);
}

Learned Example(std::string_view stage, Json options) {
  Learned learned;
  learned.values = {{.stage = std::string(stage), .field = "y", .options = std::move(options)}};
  return learned;
}

TEST(Target, MayBeANameAlone) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train, Parsed("  target: y\n"));
  EXPECT_EQ(train.options.target, "y");
  EXPECT_FALSE(train.target.transforms());
  EXPECT_EQ(train.Filled().Find("target")->scalar, "y");
}

TEST(Target, IsWrittenAsItWasRead) {
  for (const char* const target :
       {"{y: {normalize: auto, log: true}}", "{y: {normalize: auto, log: false}}",
        "{y: {log: true}}", "{y: {normalize: {mean: [1, 2], std: [3, 4]}, log: false}}"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train,
                                Parsed(std::string("  target: ") + target + "\n"));
    EXPECT_EQ(train.options.target, "y");
    EXPECT_TRUE(train.target.transforms());
    EXPECT_EQ(ToYamlLine(*train.Filled().Find("target")), target);
  }
}

TEST(Target, GivesOneNumberToAllWhereOneIsGiven) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train,
                              Parsed("  target: {y: {normalize: {mean: [1, 2], std: 3}}}\n"));
  EXPECT_THAT(train.target.mean, ElementsAre(1, 2));
  EXPECT_THAT(train.target.std, ElementsAre(3, 3));
}

TEST(LearnedTrain, AsksForWhatIsNotGivenAsNumbers) {
  const std::pair<const char*, const char*> cases[] = {
      {"  target: price\n", ""},
      {"  target: {price: {log: true}}\n", ""},
      {"  target: {price: {normalize: {mean: 1, std: 2}}}\n", ""},
      {"  loss: cross_entropy\n", ""},
      {"  loss: {cross_entropy: {weights: [1, 2]}}\n", ""},
      {"  target: {price: {normalize: auto}}\n", "train.target of price at r.yaml:2:31"},
      {"  target: {price: {normalize: auto, log: true}}\n",
       "train.target.log of price at r.yaml:2:31"},
      {"  loss: {focal: {weights: balanced}}\n", "train.loss of label at r.yaml:2:27"}};
  for (const auto& [text, wanted] : cases) {
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train, Parsed(text));
    std::string asked;
    for (const TrainingRequest& request : RequestsOf(train))
      asked +=
          fmt::format("{} of {} at {}", request.stage, request.field, request.place.ToString());
    EXPECT_EQ(asked, wanted) << text;
    EXPECT_EQ(Learns(train), !asked.empty());
  }
}

struct WrongCase {
  const char *train, *says;
};
constexpr WrongCase kWrong[] = {
    {"  target: {}\n", "r.yaml:2:11: train.target is an empty map"},
    {"  target: {y: auto}\n", "r.yaml:2:15: train.target: after the field come options"},
    {"  target: {y: {logs: true}}\n", "unknown option 'logs'; did you mean 'log'?"},
    {"  target: {y: {log: 2}}\n", "r.yaml:2:21: train.target: log"},
    {"  target: {y: {normalize: yes}}\n", "r.yaml:2:27: train.target: normalize is"},
    {"  target: {y: {normalize: \"auto\"}}\n", "it must be auto without quotes"},
    {"  target: {y: {normalize: {mean: 1, std: 0}}}\n",
     "normalize.std has 0 among its values; each must be > 0"},
    {"  target: {y: {normalize: {mean: [1, 2], std: [1, 2, 3]}}}\n", "2 means and 3 stds"},
    {"  loss: {cross_entropy: {weights: balance}}\n", "weights"},
    {"  loss: {mse: {weights: balanced}}\n", "weights"}};

TEST(Target, MistakesHaveTheirPlace) {
  for (const WrongCase& wrong : kWrong) {
    EXPECT_THAT(Parsed(wrong.train), FailsWith(StatusCode::kInvalidArgument, wrong.says))
        << wrong.train;
  }
}

TEST(LearnedTrain, PutsMeanAndDeviationIntoTheTarget) {
  STOKER_ASSERT_OK_AND_ASSIGN(TrainRecipe train,
                              Parsed("  target: {y: {normalize: auto, log: true}}\n"));
  EXPECT_FALSE(CheckIsLearned(train).ok());
  const Learned learned = Example("train.target.log", {{"mean", {5}}, {"std", {2}}});
  STOKER_ASSERT_OK(FillInLearned(&learned, train));
  EXPECT_THAT(train.target.mean, ElementsAre(5));
  EXPECT_THAT(train.target.std, ElementsAre(2));
  STOKER_EXPECT_OK(CheckIsLearned(train));
  EXPECT_EQ(ToYamlLine(*train.Filled().Find("target")), "{y: {normalize: auto, log: true}}");
}

TEST(LearnedTrain, DoesNotTakeTheMeanOfATargetForThatOfItsLogarithm) {
  STOKER_ASSERT_OK_AND_ASSIGN(TrainRecipe train,
                              Parsed("  target: {y: {normalize: auto, log: true}}\n"));
  const Learned learned = Example("train.target", {{"mean", {5}}, {"std", {2}}});
  EXPECT_THAT(
      FillInLearned(&learned, train),
      FailsWith(StatusCode::kInvalidArgument, "train.target (r.yaml:2:11): normalize is to be"));
  EXPECT_FALSE(FillInLearned(nullptr, train).ok());
}

TEST(LearnedTrain, PutsWeightsIntoTheLoss) {
  for (const std::string name : {"cross_entropy", "focal"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        TrainRecipe train, Parsed("  target: y\n  loss: {" + name + ": {weights: balanced}}\n"));
    EXPECT_TRUE(train.balanced);
    EXPECT_FALSE(CheckIsLearned(train).ok());
    const Learned learned = Example("train.loss", {{"weights", {0.5, 2}}});
    STOKER_ASSERT_OK(FillInLearned(&learned, train));
    STOKER_EXPECT_OK(CheckIsLearned(train));
    EXPECT_THAT(ToYamlLine(train.loss.node), HasSubstr("weights: [0.5, 2]"));
    EXPECT_THAT(ToYamlLine(*train.Filled().Find("loss")), HasSubstr("weights: balanced"));
  }
}

}  // namespace stoker::learned_train_test
