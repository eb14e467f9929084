#include "stoker/tools/top/run_source.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "stoker/base/json_file.h"
#include "stoker/base/testing.h"
#include "stoker/run/run_directory.h"
#include "stoker/tools/top/top_testing_internal.h"

namespace stoker::run_source_test {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

constexpr const char* kRecipe =
    "data: {train: [range: 10, batch: 2]}\nmodel: {mlp: {classes: 4}}\ntrain: {eval_every: 3}\n";

void AppendTo(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

std::string LineOf(int64_t step, double loss) {
  return fmt::format("{{\"kind\":\"train\",\"step\":{},\"loss\":{}}}\n", step, loss);
}

// A run that this process holds, as if it trained, until it is let go.
class HeldRunDirectory {
 public:
  HeldRunDirectory() {
    Result<ConfigNode> recipe = ParseYaml(kRecipe, "recipe.yaml");
    Result<RunDirectory> made = RunDirectory::Create({.root = path()}, *recipe);
    EXPECT_THAT(made, IsOk());
    if (made.ok()) run_.emplace(*std::move(made));
  }
  fs::path path() const { return folder_.path() / "run"; }
  RunPaths paths() const { return {path()}; }
  void LetGo() { run_.reset(); }
  void Publish(const PublishedProgress& progress) const {
    std::ofstream(ProgressPath(path()), std::ios::trunc) << JsonFileText(progress.ToJson());
  }

 private:
  TempDir folder_;
  std::optional<RunDirectory> run_;
};

TopHistory Looked(RunSource& source, int64_t looks = 1) {
  TopHistory history;
  history.is_run = true;
  history.host = "here";
  for (int64_t i = 0; i < looks; ++i) {
    history.samples.emplace_back().at_s = static_cast<double>(i);
    source.Look(history);
  }
  return history;
}

TEST(RunSource, OfAFolderThatIsNoRunSaysWhatToName) {
  const TempDir folder;
  EXPECT_THAT(RunSource::Open(folder.path()),
              FailsWith(StatusCode::kNotFound, "is no run directory"));
  EXPECT_THAT(RunSource::Open(folder.path() / "none"),
              FailsWith(StatusCode::kNotFound, "is no run directory"));
}

TEST(RunSource, ShowsARunFromItsBeginToItsEnd) {
  HeldRunDirectory run;
  STOKER_ASSERT_OK_AND_ASSIGN(RunSource source, RunSource::Open(run.path()));
  EXPECT_EQ(Looked(source).state, TopState::kStarting);
  EXPECT_EQ(Looked(source).state_text, "starting");
  run.Publish(MadeUpProgress(20));
  AppendTo(run.paths().metrics(), LineOf(50, 1.5) + LineOf(100, 0.75) +
                                      "{\"kind\":\"eval\",\"step\":100,\"loss\":0.5,"
                                      "\"accuracy\":0.91}\n");
  const TopHistory training = Looked(source);
  EXPECT_EQ(training.state, TopState::kRunning);
  EXPECT_EQ(training.state_text, "training, pid 4711");
  EXPECT_THAT(training.losses,
              ElementsAre(Field(&LossPoint::loss, 1.5), Field(&LossPoint::loss, 0.75)));
  EXPECT_EQ(training.evaluation, "step 100: accuracy 0.9100, loss 0.5000");
  ASSERT_TRUE(training.verdict);
  EXPECT_EQ(training.verdict->verdict, Verdict::kDecode);
  EXPECT_EQ(training.advice, "leave train.feed_threads out");
  run.LetGo();
  EXPECT_EQ(Looked(source).state, TopState::kEnded);
  EXPECT_THAT(Looked(source).state_text, HasSubstr("not finished, and no process trains in it"));
  AppendTo(run.paths().summary(), "{}");
  EXPECT_EQ(Looked(source).state_text, "finished");
}

TEST(RunSource, ARunElsewhereThatHasLongBeenSilentSaysSo) {
  HeldRunDirectory run;
  PublishedProgress progress = MadeUpProgress(20);
  progress.host = "node7";
  progress.activity = RunActivity::kEvaluation;
  run.Publish(progress);
  fs::last_write_time(ProgressPath(run.path()),
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  STOKER_ASSERT_OK_AND_ASSIGN(RunSource source, RunSource::Open(run.path()));
  EXPECT_EQ(Looked(source).state_text,
            "evaluates, last heard of 2 h 00 min ago, pid 4711 on node7");
}

TEST(RunSource, AFileThatCannotBeReadNowKeepsWhatWasReadBefore) {
  HeldRunDirectory run;
  run.Publish(MadeUpProgress(20));
  STOKER_ASSERT_OK_AND_ASSIGN(RunSource source, RunSource::Open(run.path()));
  TopHistory history = Looked(source);
  std::ofstream(ProgressPath(run.path()), std::ios::trunc) << "{ broken";
  history.samples.emplace_back().at_s = 1;
  source.Look(history);
  ASSERT_TRUE(history.now().progress);
  EXPECT_EQ(history.now().progress->step, 200);
}

TEST(MetricsTail, ReadsWhatWasAppendedAndLinesInPieces) {
  const TempDir folder;
  const std::string path = folder / "metrics.jsonl";
  MetricsTail tail(path);
  tail.Read();
  EXPECT_THAT(tail.losses(), IsEmpty());
  const std::string second = LineOf(2, 0.5);
  AppendTo(path, LineOf(1, 1) + second.substr(0, 9));
  tail.Read();
  EXPECT_THAT(tail.losses(), SizeIs(1));
  AppendTo(path, second.substr(9));
  tail.Read();
  ASSERT_THAT(tail.losses(), SizeIs(2));
  EXPECT_EQ(tail.losses()[1].step, 2);
  EXPECT_EQ(tail.losses()[1].loss, 0.5);
}

TEST(MetricsTail, ReadsAnewWhatAResumedRunHasCutBack) {
  const TempDir folder;
  const std::string path = folder / "metrics.jsonl";
  AppendTo(path, LineOf(1, 1) + LineOf(2, 2) + LineOf(3, 3));
  MetricsTail tail(path);
  tail.Read();
  EXPECT_THAT(tail.losses(), SizeIs(3));
  fs::resize_file(path, LineOf(1, 1).size());
  tail.Read();
  EXPECT_THAT(tail.losses(), ElementsAre(Field(&LossPoint::step, 1)));
}

TEST(MetricsTail, LeavesOutWhatIsNoLineOfMetricsAndGoesOn) {
  const TempDir folder;
  const std::string path = folder / "metrics.jsonl";
  AppendTo(path, "\n{\n[1]\n\"x\"\n{\"step\":\"x\",\"loss\":1}\n{\"loss\":1}\n\xff\xfe\n");
  AppendTo(path, std::string(3 << 20, 'x') + "\n");
  AppendTo(path, "{\"step\":4,\"loss\":null}\n{\"step\":5,\"kind\":7,\"loss\":2}\n");
  MetricsTail tail(path);
  tail.Read();
  ASSERT_THAT(tail.losses(), SizeIs(2));
  EXPECT_TRUE(std::isnan(tail.losses()[0].loss));  // a loss that was not finite
  EXPECT_EQ(tail.losses()[1].loss, 2);
}

TEST(MetricsTail, ThinsOutALongRunAndKeepsItsBegin) {
  const TempDir folder;
  const std::string path = folder / "metrics.jsonl";
  constexpr int64_t kLines = 5 * static_cast<int64_t>(MetricsTail::kMostPoints);
  std::string text;
  for (int64_t step = 0; step < kLines; ++step) text += LineOf(step, 1);
  AppendTo(path, text);
  MetricsTail tail(path);
  tail.Read();
  EXPECT_LE(tail.losses().size(), MetricsTail::kMostPoints);
  EXPECT_GE(tail.losses().size(), MetricsTail::kMostPoints / 4);
  EXPECT_EQ(tail.losses().front().step, 0);
  EXPECT_GE(tail.losses().back().step, kLines - 16);
  for (size_t i = 1; i < tail.losses().size(); ++i)
    ASSERT_EQ(tail.losses()[i].step - tail.losses()[i - 1].step, tail.losses()[1].step);
}

TEST(MetricsTail, OfAVeryLargeFileReadsTheEnd) {
  const TempDir folder;
  const std::string path = folder / "metrics.jsonl";
  AppendTo(path, LineOf(1, 1) + std::string(MetricsTail::kMostBytes, ' '));
  AppendTo(path, LineOf(2, 2) + LineOf(3, 3));
  MetricsTail tail(path);
  tail.Read();
  EXPECT_THAT(tail.losses(), ElementsAre(Field(&LossPoint::step, 3)));
}

TEST(NewestRunningRun, IsTheOneWhoseRecipeWasWrittenLast) {
  const TempDir runs;
  EXPECT_THAT(NewestRunningRun(runs.path() / "none"),
              FailsWith(StatusCode::kNotFound, "name a run's directory"));
  EXPECT_THAT(NewestRunningRun(runs.path()),
              FailsWith(StatusCode::kNotFound, "no process trains in a run below"));
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe, ParseYaml(kRecipe, "recipe.yaml"));
  const auto make = [&](const char* name, int hours_ago) {
    Result<RunDirectory> run = RunDirectory::Create({.root = runs.path() / name}, recipe);
    EXPECT_THAT(run, IsOk());
    fs::last_write_time(RunPaths{runs.path() / name}.recipe(),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
    return run;
  };
  std::optional<Result<RunDirectory>> a(make("a", 3)), b(make("b", 1)), c(make("c", 2));
  fs::create_directory(runs.path() / "no-run");
  STOKER_ASSERT_OK_AND_ASSIGN(const fs::path newest, NewestRunningRun(runs.path()));
  EXPECT_EQ(newest.filename(), "b");
  b.reset();
  STOKER_ASSERT_OK_AND_ASSIGN(const fs::path next, NewestRunningRun(runs.path()));
  EXPECT_EQ(next.filename(), "c");
}

}  // namespace stoker::run_source_test
