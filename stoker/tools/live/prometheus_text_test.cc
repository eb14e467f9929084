#include "stoker/tools/live/prometheus_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker::prometheus_text_test {
namespace {

TEST(PrometheusText, WritesHelpAndTypeOnceAFamily) {
  PrometheusText text;
  text.Family("a_total", MetricType::kCounter, "Some.");
  text.Sample(1, {{"x", "1"}, {"y", ""}});
  text.Sample(2.5);
  text.Family("unused", MetricType::kGauge, "None.");
  text.One("b_bytes", MetricType::kGauge, "Other.", 1e21);
  EXPECT_EQ(text.text(),
            "# HELP a_total Some.\n# TYPE a_total counter\na_total{x=\"1\",y=\"\"} 1\na_total 2.5\n"
            "# HELP b_bytes Other.\n# TYPE b_bytes gauge\nb_bytes 1e+21\n");
}

TEST(PrometheusText, NoLabelBreaksOutOfItsQuotes) {
  PrometheusText text;
  text.Family("a", MetricType::kGauge, "Some.");
  text.Sample(1, {{"x", "a\"} 7\nb \\ \xff"}});
  EXPECT_EQ(text.text().substr(text.text().find("a{")), "a{x=\"a\\\"} 7\\\\nb \\\\ \\\\xff\"} 1\n");
}

TEST(PrometheusText, WritesWhatIsNoNumber) {
  PrometheusText text;
  text.Family("a", MetricType::kGauge, "Some.");
  for (const double value : {NAN, INFINITY, -INFINITY}) text.Sample(value);
  EXPECT_EQ(text.text().substr(text.text().find("gauge\n") + 6), "a NaN\na +Inf\na -Inf\n");
}

}  // namespace
}  // namespace stoker::prometheus_text_test
