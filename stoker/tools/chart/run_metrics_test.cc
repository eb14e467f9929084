#include "stoker/tools/chart/run_metrics.h"

#include <cmath>
#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::run_metrics_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kText =
    "{\"kind\":\"train\",\"step\":2,\"epoch\":0.5,\"loss\":1.5,\"train_seconds\":3}\n"
    "{\"kind\":\"eval\",\"step\":4,\"epoch\":1,\"loss\":1,\"accuracy\":0.5,\"labels\":[1,2]}\n"
    "{\"kind\":\"train\",\"step\":4,\"epoch\":1,\"loss\":null,\"train_seconds\":6}\n";

TEST(RunMetrics, GiveAColumnForEachFigureOfEachKindOfLine) {
  STOKER_ASSERT_OK_AND_ASSIGN(const RunMetrics metrics, ParseRunMetrics(kText, "m"));
  ASSERT_EQ(metrics.columns.size(), 3u);
  EXPECT_EQ(metrics.warning, "");
  const MetricColumn& loss = metrics.columns[0];
  EXPECT_EQ(loss.kind + "." + loss.name, "train.loss");
  EXPECT_THAT(loss.step, ElementsAre(2, 4));
  EXPECT_THAT(loss.epoch, ElementsAre(0.5, 1));
  EXPECT_THAT(loss.seconds, ElementsAre(3, 6));
  EXPECT_EQ(loss.value[0], 1.5);
  EXPECT_TRUE(std::isnan(loss.value[1]));  // what JSON cannot hold
  EXPECT_EQ(metrics.columns[1].kind, "eval");
  EXPECT_TRUE(std::isnan(metrics.columns[1].seconds[0]));
}

TEST(RunMetrics, GiveColumnsForTheMetricsOfEvaluationsThatAreNumbers) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const RunMetrics metrics,
      ParseRunMetrics("{\"kind\":\"eval\",\"step\":4,\"loss\":1,\"metrics\":{\"f1\":[0.1,0.2],"
                      "\"loss\":7,\"top5\":0.9}}\n",
                      "m"));
  ASSERT_EQ(metrics.columns.size(), 2u);
  EXPECT_EQ(metrics.columns[0].value, std::vector<double>{1});
  EXPECT_EQ(metrics.columns[1].kind + "." + metrics.columns[1].name, "eval.top5");
  EXPECT_THAT(metrics.columns[1].step, ElementsAre(4));
}

TEST(RunMetrics, PassOverALastLineThatWasCutShortAndSayWhichAtEveryPlace) {
  const std::string text = kText;
  const size_t last = text.rfind("{\"kind");
  for (size_t size = last + 1; size + 1 < text.size(); ++size) {
    STOKER_ASSERT_OK_AND_ASSIGN(const RunMetrics metrics,
                                ParseRunMetrics(text.substr(0, size), "m"));
    EXPECT_THAT(metrics.columns[0].step, ElementsAre(2));
    EXPECT_THAT(metrics.warning, HasSubstr("m: line 3 (byte " + std::to_string(last) + ")"));
  }
}

TEST(RunMetrics, TakeALastLineThatLacksOnlyItsEnd) {
  const std::string text = kText;
  STOKER_ASSERT_OK_AND_ASSIGN(const RunMetrics metrics,
                              ParseRunMetrics(text.substr(0, text.size() - 1), "m"));
  EXPECT_EQ(metrics.columns[0].step.size(), 2u);
  EXPECT_EQ(metrics.warning, "");
}

TEST(RunMetrics, NameALineThatIsNoMetrics) {
  for (const char* const broken :
       {"{\"step\":1,", "[]", "12", "{\"loss\":1}", "", "{\"step\":\"1\"}"}) {
    const auto metrics =
        ParseRunMetrics(std::string("{\"step\":1,\"loss\":1}\n") + broken + "\n{}\n", "m");
    EXPECT_THAT(metrics, FailsWith(StatusCode::kDataLoss, "m: line 2 (byte 20)"));
  }
}

TEST(RunMetrics, SayWhereThereAreNone) {
  EXPECT_THAT(ParseRunMetrics("", "m"),
              FailsWith(StatusCode::kFailedPrecondition, "m: holds no metrics yet"));
  EXPECT_THAT(ParseRunMetrics("{\"st", "m"),
              FailsWith(StatusCode::kFailedPrecondition, "line 1 (byte 0): was cut short"));
  const TempDir directory;
  EXPECT_THAT(ReadRunMetrics(directory / ""),
              FailsWith(StatusCode::kNotFound, "has no metrics.jsonl"));
  EXPECT_THAT(ReadRunMetrics(directory / "nowhere"), FailsWith(StatusCode::kNotFound, "nowhere"));
}

TEST(RunMetrics, AreReadFromARunOrFromTheFileItself) {
  const TempDir directory;
  std::ofstream(directory / "metrics.jsonl") << kText;
  for (const std::string& run :
       {std::string(directory / ""), std::string(directory / "metrics.jsonl")}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const RunMetrics metrics, ReadRunMetrics(run));
    EXPECT_EQ(metrics.name, run);
    EXPECT_EQ(metrics.columns.size(), 3u);
  }
}

}  // namespace stoker::run_metrics_test
