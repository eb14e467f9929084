#include <torch/utils.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/train/evaluation/metric_set.h"
#include "stoker/train/metrics/auc.h"
#include "stoker/train/metrics/f1.h"
#include "stoker/train/metrics/top.h"

namespace stoker::metrics_test {

at::Tensor Classes(const std::vector<int64_t>& values) { return torch::tensor(values); }

// Scores of which each sample's highest is at its prediction.
at::Tensor ScoresOf(const std::vector<int64_t>& predictions, int64_t classes) {
  const at::Tensor scores = torch::zeros({std::ssize(predictions), classes});
  return scores.scatter_(1, Classes(predictions).unsqueeze(1), 1);
}

std::vector<MetricRegistry::Configured> Called(const std::vector<std::string>& names) {
  std::vector<MetricRegistry::Configured> metrics;
  for (const std::string& name : names) {
    const auto parsed = MetricRegistry::Known().Parse(ConfigNode::Scalar(name));
    EXPECT_THAT(parsed, IsOk());
    metrics.push_back(*parsed);
  }
  return metrics;
}

MetricSet SetOf(const std::vector<std::string>& names, TargetKind kind = TargetKind::kClass) {
  Result<MetricSet> set = MetricSet::Create(Called(names), kind);
  EXPECT_THAT(set, IsOk());
  return *std::move(set);
}

void AddTo(MetricSet& metrics, const at::Tensor& scores, const Answers& answers,
           const at::Tensor& target) {
  STOKER_EXPECT_OK(metrics.Add({.scores = scores, .target = target, .answers = answers}));
}

Json ValuesIn(const MetricSet& metrics) {
  const Result<Json> values = metrics.Values();
  EXPECT_THAT(values, IsOk());
  return values.ok() ? *values : Json();
}

Json ValuesOf(const std::vector<std::string>& names, const at::Tensor& scores,
              const std::vector<int64_t>& target, int64_t batch = 2) {
  MetricSet metrics = SetOf(names);
  for (int64_t begin = 0; begin < scores.size(0); begin += batch) {
    const int64_t end = std::min(begin + batch, scores.size(0));
    const at::Tensor part = scores.slice(0, begin, end);
    const at::Tensor right = Classes(target).slice(0, begin, end);
    AddTo(metrics, part, {.right = right, .said = part.argmax(1)}, right);
  }
  return ValuesIn(metrics);
}

// Class 0: 2 of 3 found, 1 taken wrongly for it; class 1: 1 of 2; class 2: 1 of 1; class 3 is never
// there.
const std::vector<int64_t> kTarget = {0, 0, 0, 1, 1, 2}, kTaken = {0, 0, 1, 1, 0, 2};

TEST(MetricSet, CountsWhatWasTakenForWhat) {
  const Json values = ValuesOf({"confusion"}, ScoresOf(kTaken, 4), kTarget);
  EXPECT_EQ(values["confusion"].dump(), "[[2,1,0,0],[1,1,0,0],[0,0,1,0],[0,0,0,0]]");
}

TEST(MetricSet, PrecisionRecallAndF1AreMeansOverTheClassesThereAre) {
  const Json values = ValuesOf({"precision", "recall", "f1"}, ScoresOf(kTaken, 4), kTarget);
  EXPECT_NEAR(values["precision"].get<double>(), (2.0 / 3 + .5 + 1) / 3, 1e-12);
  EXPECT_NEAR(values["recall"].get<double>(), (2.0 / 3 + .5 + 1) / 3, 1e-12);
  EXPECT_NEAR(values["f1"].get<double>(), (2.0 / 3 + .5 + 1) / 3, 1e-12);
  EXPECT_TRUE(values["f1_of_classes"][3].is_null());
  EXPECT_EQ(values["recall_of_classes"][1], .5);
}

TEST(MetricSet, AClassThatIsOnlyGuessedHasNoPrecisionAndNoRecall) {
  const Json values = ValuesOf({"precision", "recall", "f1"}, ScoresOf({0, 1}, 2), {0, 0});
  EXPECT_EQ(values["precision_of_classes"].dump(), "[1.0,0.0]");
  EXPECT_EQ(values["recall_of_classes"].dump(), "[0.5,0.0]");
  EXPECT_NEAR(values["f1"].get<double>(), (2.0 / 3) / 2, 1e-12);
}

TEST(MetricSet, TheTargetMayBeAmongTheHighest) {
  const at::Tensor scores = torch::tensor({{4., 3., 2., 1.}, {4., 3., 2., 1.}, {1., 2., 3., 4.}});
  const Json values = ValuesOf({"top1", "top2", "top9"}, scores, {0, 1, 0});
  EXPECT_NEAR(values["top1"].get<double>(), 1.0 / 3, 1e-12);
  EXPECT_NEAR(values["top2"].get<double>(), 2.0 / 3, 1e-12);
  EXPECT_EQ(values["top9"], 1);
}

TEST(MetricSet, MeasuresHowFarScoresAreOff) {
  const Json of_classes = ValuesOf({"mse", "mae"}, torch::tensor({{.5, 0.}, {0., 3.}}), {0, 1});
  EXPECT_NEAR(of_classes["mse"].get<double>(), (.25 + 4) / 4, 1e-6);
  EXPECT_NEAR(of_classes["mae"].get<double>(), (.5 + 2) / 4, 1e-6);
  const Json of_numbers = ValuesOf({"mse", "mae"}, torch::tensor({{5.}, {1.}}), {3, 2});
  EXPECT_NEAR(of_numbers["mse"].get<double>(), (4 + 1) / 2.0, 1e-6);
  EXPECT_NEAR(of_numbers["mae"].get<double>(), (2 + 1) / 2.0, 1e-6);
}

TEST(MetricSet, AucIsThatOfOneScoreOrTheMeanOfEachClassAgainstTheOthers) {
  const Json one = ValuesOf({"auc"}, torch::tensor({{.1}, {.4}, {.35}, {.8}}), {0, 0, 1, 1});
  EXPECT_NEAR(one["auc"].get<double>(), .75, 1e-12);
  const Json right = ValuesOf({"auc"}, ScoresOf({0, 1, 2}, 4), {0, 1, 2});
  EXPECT_EQ(right["auc"], 1);
  EXPECT_TRUE(right["auc_of_classes"][3].is_null());
  EXPECT_TRUE(ValuesOf({"auc"}, torch::tensor({{.1}, {.4}}), {1, 1})["auc"].is_null());
}

TEST(MetricSet, DoesNotDependOnHowSamplesAreBatched) {
  torch::manual_seed(1);
  const at::Tensor scores = torch::randn({97, 5});
  std::vector<int64_t> target;
  for (int64_t i = 0; i < 97; ++i) target.push_back(i * i % 5);
  const std::vector<std::string> names = {"top2", "confusion", "f1", "auc"};
  EXPECT_EQ(ValuesOf(names, scores, target, 97), ValuesOf(names, scores, target, 10));
}

// Of labels that hold where a target is above 0.5 and are said to where a score is above 0.
Json OfLabels(const std::vector<std::string>& names, const at::Tensor& scores,
              const at::Tensor& target, int64_t batch) {
  MetricSet metrics = SetOf(names, TargetKind::kLabels);
  for (int64_t begin = 0; begin < scores.size(0); begin += batch) {
    const at::Tensor part = scores.slice(0, begin, begin + batch);
    const at::Tensor wanted = target.slice(0, begin, begin + batch);
    AddTo(metrics, part,
          {.right = wanted.gt(.5).to(torch::kLong), .said = part.gt(0).to(torch::kLong)}, wanted);
  }
  return ValuesIn(metrics);
}

// Label 0: 1 of 2 found, 1 said wrongly; label 1: always right; label 2 never holds and is never
// said to.
TEST(MetricSet, EachLabelIsAQuestionOfItsOwn) {
  const at::Tensor scores =
      torch::tensor({{2., 3., -1.}, {-1., -1., -2.}, {1., .5, -3.}, {-.5, -2., -4.}});
  const at::Tensor target = torch::tensor({{1., 1., 0.}, {1., 0., 0.}, {0., 1., 0.}, {0., 0., 0.}});
  for (const int64_t batch : {1, 3, 4}) {
    const Json values =
        OfLabels({"precision", "recall", "f1", "auc", "mae"}, scores, target, batch);
    EXPECT_EQ(values["precision_of_classes"].dump(), "[0.5,1.0,null]");
    EXPECT_EQ(values["recall_of_classes"].dump(), "[0.5,1.0,null]");
    EXPECT_EQ(values["f1"], .75);
    // Of label 0, 2 of 4 pairs: the scores that hold, 2 and -1, against 1 and -.5.
    EXPECT_EQ(values["auc_of_classes"].dump(), "[0.5,1.0,null]");
    EXPECT_EQ(values["auc"], .75);
    EXPECT_NEAR(values["mae"].get<double>(), (scores - target).abs().mean().item<double>(), 1e-6);
  }
}

TEST(MetricSet, ErrorsOfNumbersAreAgainstTheNumbers) {
  MetricSet metrics = SetOf({"mse", "mae"}, TargetKind::kNumbers);
  AddTo(metrics, torch::tensor({{5.}, {1.}}), {}, torch::tensor({3.5, 2.}));
  AddTo(metrics, torch::tensor({{0.}}), {}, torch::tensor({-1.}));
  EXPECT_NEAR(ValuesIn(metrics)["mse"].get<double>(), (2.25 + 1 + 1) / 3, 1e-6);
  EXPECT_NEAR(ValuesIn(metrics)["mae"].get<double>(), (1.5 + 1 + 1) / 3, 1e-6);
  MetricSet rows = SetOf({"mae"}, TargetKind::kNumbers);
  AddTo(rows, torch::tensor({{5., 1.}}), {}, torch::tensor({{4., 3.}}));
  EXPECT_NEAR(ValuesIn(rows)["mae"].get<double>(), 1.5, 1e-6);
}

TEST(MetricSet, WhatHasNoMeaningForTheTargetsIsRefusedByName) {
  STOKER_EXPECT_OK(MetricSet::CheckFor(Called({"mse", "mae"}), TargetKind::kNumbers));
  for (const char* name : {"top5", "confusion", "precision", "recall", "f1", "auc"}) {
    EXPECT_THAT(
        MetricSet::CheckFor(Called({"mse", name}), TargetKind::kNumbers),
        FailsWith(StatusCode::kInvalidArgument,
                  fmt::format("'{}' is not defined for numbers, the targets of evaluations; "
                              "for those there are mae, mse, r2, rmse",
                              name)));
  }
  STOKER_EXPECT_OK(MetricSet::CheckFor(Called({"precision", "recall", "f1", "auc", "mse"}),
                                       TargetKind::kLabels));
  for (const char* name : {"top1", "confusion"}) {
    EXPECT_THAT(MetricSet::CheckFor(Called({name}), TargetKind::kLabels),
                FailsWith(StatusCode::kInvalidArgument, "is not defined for labels"));
    STOKER_EXPECT_OK(MetricSet::CheckFor(Called({name}), TargetKind::kClass));
    STOKER_EXPECT_OK(MetricSet::CheckFor(Called({name}), TargetKind::kShares));
  }
}

TEST(MetricSet, SaysNothingWhereNothingIsAskedForOrSeen) {
  EXPECT_TRUE(ValuesIn(SetOf({})).is_null());
  EXPECT_TRUE(ValuesIn(SetOf({"f1"})).is_null());
}

TEST(MetricRegistry, AnUnknownNameIsRefusedWithThoseThereAre) {
  for (const char* name : {"top0", "top5x", "accuracy", ""}) {
    EXPECT_THAT(MetricRegistry::Known().Parse(ConfigNode::Scalar(name)),
                FailsWith(StatusCode::kInvalidArgument, "unknown metric"));
  }
}

TEST(MetricRegistry, TopKIsTopWithThisKAndBothAreWrittenAlike) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode spelt, ParseYaml("top: {k: 3}", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto one, MetricRegistry::Known().Parse(spelt));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto other,
                              MetricRegistry::Known().Parse(ConfigNode::Scalar("top3")));
  EXPECT_EQ(one.name, "top3");
  EXPECT_EQ(other.name, "top3");
  EXPECT_THAT(Differences(one.node, other.node), testing::IsEmpty());
}

TEST(MetricRegistry, KnowsWhichFiguresMayBeFollowedAndWhichWayTheyGetBetter) {
  const auto figures = MetricRegistry::FiguresOf(Called({"confusion", "top2", "mse"}));
  ASSERT_EQ(figures.size(), 2u);  // a matrix is no single figure
  EXPECT_EQ(figures[0].name, "top2");
  EXPECT_EQ(figures[0].better, Better::kHigher);
  EXPECT_EQ(figures[1].better, Better::kLower);
}

// The definition: all pairs of a positive and a negative.
double PlainArea(const std::vector<float>& scores, const std::vector<bool>& positive) {
  double right = 0, pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < scores.size(); ++j) {
      if (!positive[i] || positive[j]) continue;
      ++pairs;
      right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? .5 : 0;
    }
  }
  return right / pairs;
}

TEST(AreaUnderRoc, IsTheShareOfPairsInTheRightOrderTiesHalf) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, 0, 0, 0);
    std::vector<float> scores;
    std::vector<bool> positive;
    for (int i = 0; i < 60; ++i) {
      scores.push_back(static_cast<float>(rng.Below(12)));
      positive.push_back(rng.Below(3) == 0);
    }
    EXPECT_NEAR(AreaUnderRoc(scores, positive), PlainArea(scores, positive), 1e-12) << seed;
  }
}

TEST(AreaUnderRoc, CannotBeSaidOfOneKindNorOfNans) {
  const std::vector<float> scores = {1, 2}, broken = {1, NAN};
  EXPECT_TRUE(std::isnan(AreaUnderRoc(scores, {true, true})));
  EXPECT_TRUE(std::isnan(AreaUnderRoc({}, {})));
  EXPECT_TRUE(std::isnan(AreaUnderRoc(broken, {true, false})));
}

// A metric of your own whose values can be anything.
struct Careless {
  static constexpr std::string_view kName = "careless";
  static constexpr std::string_view kHelp = "Its values are an option.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind /*kind*/) { return true; }
  std::string json;

  static void Describe(OptionTable<Careless>& table) {
    table.Field("json", &Careless::json, "its values; 'throw' throws");
  }
  Result<std::shared_ptr<Metric>> Build(TargetKind /*kind*/) const {
    class Given final : public Metric {
     public:
      explicit Given(std::string json) : json_(std::move(json)) {}
      void Add(const ScoredBatch& /*batch*/) override {
        if (json_ == "throw") throw std::runtime_error("no mood");
      }
      Json Values() const override { return Json::parse(json_); }

     private:
      const std::string json_;
    };
    return std::make_shared<Given>(json);
  }
};

TEST(MetricSet, NamesTheMetricWhoseValuesCannotBeUsed) {
  const at::Tensor scores = torch::tensor({{0.1, 0.9}});
  const at::Tensor right = Classes({1});
  const auto values_with = [&](const std::string& json) -> Status {
    STOKER_ASSIGN_OR_RETURN(MetricSet metrics,
                            MetricSet::Create({Configure(F1{}), Configure(Careless{.json = json})},
                                              TargetKind::kClass));
    const Answers answers{.right = right, .said = right};
    STOKER_RETURN_IF_ERROR(metrics.Add({.scores = scores, .target = right, .answers = answers}));
    return metrics.Values().status();
  };
  STOKER_EXPECT_OK(values_with(R"({"careless": 1, "more": [2]})"));
  STOKER_EXPECT_OK(values_with(R"({"careless": null})"));
  for (const auto& [json, says] : std::map<std::string, std::string>{
           {"throw", "metric 'careless': no mood"},
           {"3", "metric 'careless': its values are number, not an object"},
           {"{}", "metric 'careless': among its values there is no number called 'careless'"},
           {R"({"careless": [1]})", "there is no number called 'careless'"},
           {R"({"careless": 1, "f1": 2})", "its value 'f1' has the name of another metric's"}}) {
    EXPECT_THAT(values_with(json).message(), testing::HasSubstr(says)) << json;
  }
}

TEST(MetricRegistry, AMetricConfiguredInCodeNeedsNoNameInRecipes) {
  const MetricRegistry::Configured top = Configure(Top{.k = 3});
  EXPECT_EQ(top.name, "top3");
  EXPECT_EQ(ToYaml(top.node), ToYaml(Called({"top3"}).front().node));
  const auto figures = MetricRegistry::FiguresOf({top, Configure(Careless{})});
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[1].name, "careless");
}

}  // namespace stoker::metrics_test
