#include "stoker/tools/report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::run_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile = "</style><script>alert('&')</script>";

RunReport Report() {
  RunReport report;
  report.record.name = "runs/first";
  report.record.state.json = Json::object();
  report.how = "finished";
  report.when = "2026-01-31 12:00";
  report.recipe_text = "data: {}\n";
  report.record.metrics.columns = {{.kind = "train",
                                    .name = "loss",
                                    .step = {1, 2},
                                    .epoch = {0.5, 1},
                                    .seconds = {1, 2},
                                    .value = {0.75, 0.25}},
                                   {.kind = "eval",
                                    .name = "accuracy",
                                    .step = {2},
                                    .epoch = {1},
                                    .seconds = {2},
                                    .value = {0.875}}};
  report.record.metrics.name = "runs/first";
  report.tuning = {{"reason", "it was faster"},
                   {"seconds", 2.5},
                   {"trials", Json::array({{{"change", "precision: bf16"},
                                            {"ms_a_step", 1.25},
                                            {"gain", 1.5},
                                            {"kept", true},
                                            {"verdict", "kept"}}})}};
  RunWindow window{.seconds = 10};
  window.work.step_s = 6;
  window.work.waited_s = 2;
  window.work.evaluation_s = 3;
  window.stages = {{.name = "decode", .elements = 100}};
  window.rates = {{.name = "decode", .busy = 1.5}};
  report.window = window;
  report.verdict = Diagnosis{.verdict = Verdict::kEvaluation, .lost_share = 0.3, .roof = 1.4};
  return report;
}

TEST(RunReport, HasEachPartThatTheRunHasSomethingFor) {
  const std::string html = ReportHtml(Report());
  for (const char* part :
       {"<h1>first</h1>", "<p>finished</p>", "<h2>Verdict</h2>", "evaluation: Much of the run",
        "<h2>Curves</h2>", "<svg", "test accuracy", "precision: bf16", "1.50 times",
        "it was faster", "<h2>Where the time went</h2>", "waiting for data", "40.0 %", "decode",
        "1.50", "<pre>data: {}"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("<h2>Notes</h2>")));
}

TEST(RunReport, OfARunThatHasNothingYetIsAPageToo) {
  RunReport report;
  report.record.name = "run/";
  report.record.state.json = Json::object();
  const std::string html = ReportHtml(report);
  EXPECT_THAT(html, HasSubstr("<h1>run</h1>"));
  EXPECT_THAT(html, Not(HasSubstr("<h2>Curves</h2>")));
  EXPECT_THAT(html, testing::EndsWith("</html>\n"));
}

TEST(RunReport, NothingOfARunBecomesHtml) {
  RunReport report = Report();
  for (std::string* text :
       {&report.record.name, &report.how, &report.when, &report.recipe_text,
        &report.window->stages[0].name, &report.window->rates[0].name, &report.record.metrics.name,
        &report.record.metrics.columns[0].name, &report.record.metrics.columns[1].name,
        &report.verdict->stage, &report.verdict->why})
    *text = kHostile;
  report.record.notes = {kHostile};
  report.tuning["reason"] = kHostile;
  report.tuning["trials"][0]["change"] = kHostile;
  report.record.metrics.starved = Starvation{.waited = 0.5, .stage = kHostile, .advice = kHostile};
  const std::string html = ReportHtml(report);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_EQ(html.find("</style>"), html.rfind("</style>"));
}

TEST(RunReport, FilesOfOtherShapesAreNotTrusted) {
  RunReport report = Report();
  report.tuning =
      Json::parse(R"({"reason": 7, "seconds": "x", "trials": [1, {"change": [], "kept": 1}]})");
  EXPECT_THAT(ReportHtml(report), HasSubstr("<h2>Choices</h2>"));
  report.tuning = Json::parse(R"({"trials": {}})");
  EXPECT_THAT(ReportHtml(report), Not(HasSubstr("<h2>Choices</h2>")));
}

TEST(RunReport, KeepsPasswordsOfAddressesToItself) {
  RunReport report = Report();
  report.recipe_text = "data: {root: 'https://me:hunter2@host/x'}\n";
  report.how = "failed: https://me:hunter2@host/x: 404";
  EXPECT_THAT(ReportHtml(report), Not(HasSubstr("hunter2")));
}

TEST(RunReport, OfAFolderThatIsNoRunIsAnError) {
  const TempDir folder;
  EXPECT_THAT(WriteRunReport(folder.path(), "finished"), FailsWith(StatusCode::kNotFound, ""));
  EXPECT_FALSE(std::filesystem::exists(ReportPath(folder.path())));
}

TEST(RunReport, IsWrittenFromWhatARunHasStored) {
  const TempDir folder;
  std::ofstream(folder / "recipe.yaml") << "data: {}\n";
  std::ofstream(folder / "metrics.jsonl")
      << R"({"kind": "train", "step": 1, "loss": 0.5, "train_seconds": 1})"
      << "\n";
  std::ofstream(folder / "progress.json") << "damaged";
  EXPECT_THAT(WriteRunReport(folder.path(), "interrupted after step 1 of 2"), IsOk());
  std::ifstream file(ReportPath(folder.path()));
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(html, HasSubstr("interrupted after step 1 of 2"));
  EXPECT_THAT(html, HasSubstr("<h2>Notes</h2>")) << "of the file that is damaged";
}

}  // namespace
}  // namespace stoker::run_report_test
