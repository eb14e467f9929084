#include "stoker/run/early_stopping.h"

#include <cmath>

#include "stoker/base/testing.h"

namespace stoker::early_stopping_test {

EarlyStopping Made(const EarlyStoppingOptions& options) {
  auto made = EarlyStopping::Create(options, {{"f1"}, {"mse", Better::kLower}});
  EXPECT_THAT(made, IsOk());
  return *std::move(made);
}

// After how many evaluations it stops; 0: never.
int StopsAfter(EarlyStopping stopping, const std::vector<double>& losses) {
  for (size_t i = 0; i < losses.size(); ++i) {
    const int number = static_cast<int>(i) + 1;  // also of the epoch
    if (stopping.Observe({.loss = losses[i]}, number)) return number;
  }
  return 0;
}

TEST(EarlyStopping, StopsAfterPatienceEvaluationsThatAreNotBetter) {
  EXPECT_EQ(StopsAfter(Made({.patience = 2}), {3, 2, 2, 1, 1.5, 1.1, .5}), 6);
  EXPECT_EQ(StopsAfter(Made({.patience = 1}), {3, 2, 2}), 3);
  EXPECT_EQ(StopsAfter(Made({.patience = 3}), {3, 2, 2, 1, 1.5, 1.1, .5}), 0);
}

TEST(EarlyStopping, WithoutPatienceItNeverStops) {
  EXPECT_EQ(StopsAfter(Made({}), {1, 2, 3, 4, 5, 6, 7, 8}), 0);
}

TEST(EarlyStopping, StopsAsSoonAsTheGoalIsReached) {
  EXPECT_EQ(StopsAfter(Made({.goal = 1}), {3, NAN, 2, 1, .5}), 4);
  EXPECT_EQ(StopsAfter(Made({.patience = 2, .goal = .1}), {3, 4, 5, .05}), 3);
  EXPECT_EQ(StopsAfter(Made({.mode = "max", .goal = 3}), {2, 2.5, 4}), 3);
  EXPECT_THAT(*Made({.goal = 1}).Observe({.loss = .5}, 1), "loss is 0.5, and 1 was the goal");
}

TEST(EarlyStopping, GoesOnFromAGoalToAFurtherOne) {
  EarlyStopping reached = Made({.goal = 2});
  EXPECT_FALSE(reached.Observe({.loss = 3}, 1));
  EXPECT_TRUE(reached.Observe({.loss = 2}, 2));
  EarlyStopping further = Made({.patience = 2, .goal = 1});
  STOKER_ASSERT_OK(further.Restore(Json::parse(reached.Save().dump())));
  EXPECT_EQ(StopsAfter(further, {2.5, 2.2}), 2);
  EXPECT_EQ(StopsAfter(further, {2.5, 1}), 2);
  EXPECT_EQ(StopsAfter(further, {2.5, 1.5, 1.6}), 0);
}

TEST(EarlyStopping, TheFirstMustBeBetterThanABaseline) {
  EXPECT_EQ(StopsAfter(Made({.patience = 2, .baseline = 1}), {3, 2, .5}), 2);
  EXPECT_EQ(StopsAfter(Made({.patience = 2, .baseline = 1}), {3, .5, 2, 3}), 4);
  EXPECT_THAT(*Made({.patience = 1, .baseline = 1}).Observe({.loss = 2}, 1),
              testing::HasSubstr("better than 1 in 1"));
}

TEST(EarlyStopping, EvaluationsOfTheFirstEpochsDoNotCount) {
  EXPECT_EQ(StopsAfter(Made({.patience = 1, .after_epochs = 3}), {1, 5, 5, 4, 5}), 5);
  EXPECT_EQ(StopsAfter(Made({.goal = 1, .after_epochs = 2}), {.5, .5, .5}), 3);
}

TEST(EarlyStopping, ALittleBetterIsNotBetter) {
  EXPECT_EQ(StopsAfter(Made({.patience = 2, .min_delta = .5}), {3, 2.6, 2.5, 2}), 3);
  EXPECT_EQ(StopsAfter(Made({.patience = 2, .min_delta = .5}), {3, 2.6, 2.4, 2}), 0);
}

TEST(EarlyStopping, WhatIsNoNumberIsNotBetterEvenAtFirst) {
  EXPECT_EQ(StopsAfter(Made({.patience = 2}), {NAN, NAN}), 2);
  EXPECT_EQ(StopsAfter(Made({.patience = 2}), {NAN, 5, NAN, 4}), 0);
}

TEST(EarlyStopping, GoesOnFromItsStateAsIfItHadNotStopped) {
  const std::vector<double> losses = {3, 2, 2.5, 2.25};
  for (size_t saved = 0; saved <= losses.size(); ++saved) {
    EarlyStopping one = Made({.patience = 2}), other = Made({.patience = 2});
    size_t stopped = 0;
    for (size_t i = 0; i < losses.size(); ++i) {
      if (i == saved) {
        STOKER_ASSERT_OK(other.Restore(Json::parse(one.Save().dump())));
      }
      EarlyStopping& now = i < saved ? one : other;
      if (now.Observe({.loss = losses[i]}, 1)) stopped = i + 1;
    }
    EXPECT_EQ(stopped, 4u) << saved;
  }
  EXPECT_THAT(Made({}).Restore(Json{{"best", "x"}}),
              FailsWith(StatusCode::kDataLoss, "as we write"));
}

TEST(Monitor, KnowsWhichWayIsBetter) {
  const std::vector<MeasuredFigure> measured = {{"f1"}, {"mse", Better::kLower}, {"auc"}};
  for (const auto& [metric, mode, lower] :
       std::vector<std::tuple<std::string, std::string, bool>>{{"loss", "auto", true},
                                                               {"mse", "auto", true},
                                                               {"accuracy", "auto", false},
                                                               {"f1", "auto", false},
                                                               {"loss", "max", false},
                                                               {"f1", "min", true}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Monitor monitor, Monitor::Create(metric, mode, measured));
    EXPECT_EQ(monitor.IsBetter(1, 2), lower) << metric << " " << mode;
    EXPECT_EQ(monitor.IsBetter(2, 1), !lower) << metric << " " << mode;
    EXPECT_FALSE(monitor.IsBetter(1, 1));
    EXPECT_TRUE(monitor.IsBetter(1, NAN));
    EXPECT_FALSE(monitor.IsBetter(NAN, NAN));
  }
}

TEST(Monitor, FindsItsFigureInAnEvaluation) {
  const Evaluation evaluation{
      .loss = 1, .accuracy = .5, .metrics = {{"f1", .25}, {"auc", nullptr}}};
  const auto value = [&](const char* metric) {
    return Monitor::Create(metric, "auto", {{"f1"}, {"auc"}})->ValueIn(evaluation);
  };
  EXPECT_EQ(value("loss"), 1);
  EXPECT_EQ(value("accuracy"), .5);
  EXPECT_EQ(value("f1"), .25);
  EXPECT_TRUE(std::isnan(value("auc")));
}

TEST(Monitor, AFigureThatIsNotMeasuredIsRefusedWithThoseThatAre) {
  for (const char* metric : {"f1", "confusion", ""}) {
    EXPECT_THAT(Monitor::Create(metric, "auto", {{"top5"}}),
                FailsWith(StatusCode::kInvalidArgument, "known are loss, accuracy, top5"));
  }
}

}  // namespace stoker::early_stopping_test
