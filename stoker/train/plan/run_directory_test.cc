#include "stoker/run/run_directory.h"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "stoker/base/testing.h"
#include "stoker/io/few_files_testing_internal.h"
#include "stoker/io/file_size_limit_testing_internal.h"
#include "stoker/run/allowed_changes.h"
#include "stoker/run/metrics_file.h"
#include "stoker/run/published_progress.h"
#include "stoker/run/run_summary.h"
#include "stoker/run/testing.h"

namespace stoker::run_directory_test {

const ConfigNode kRecipe =
    ConfigNode::Map({{"train", {}, ConfigNode::Map({{"epochs", {}, ConfigNode::Scalar("3")}})}});

TEST(RunDirectory, KeepsTheRecipe) {
  const TempDir dir;
  const std::string root = dir / "runs/first";
  STOKER_ASSERT_OK(RunDirectory::Create({root}, kRecipe));
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode read, ReadRunRecipe(root));
  EXPECT_THAT(Differences(kRecipe, read), testing::IsEmpty());
}

TEST(RunDirectory, DoesNotTouchADirectoryThatHoldsSomething) {
  const TempDir dir;
  WriteFileForTest(dir / "precious", "x");
  EXPECT_THAT(RunDirectory::Create({dir.path()}, kRecipe),
              FailsWith(StatusCode::kFailedPrecondition, "exists already"));
  EXPECT_THAT(RunDirectory::Create({dir / "precious"}, kRecipe),
              FailsWith(StatusCode::kFailedPrecondition, "exists already"));
}

TEST(RunDirectory, AcceptsWhatAProcessLeftThatWasKilledBeforeItHadWrittenTheRecipe) {
  const TempDir dir;
  WriteFileForTest(dir / "lock", "");
  WriteFileForTest(dir / ".recipe.yaml.tmp-999999999-deadbeef", "half a rec");
  EXPECT_THAT(RunDirectory::Open(dir.path()),
              FailsWith(StatusCode::kNotFound, "is no run directory"));
  STOKER_ASSERT_OK(RunDirectory::Create({dir.path()}, kRecipe));
  STOKER_EXPECT_OK(ReadRunRecipe(dir.path()));
}

TEST(RunDirectory, OpenedAgainRemovesWhatAKilledProcessLeftHalfWritten) {
  const TempDir dir;
  STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
  const std::string left = ".step-00000004.tmp-999999999-deadbeef";
  std::filesystem::create_directories(dir / ("run/checkpoints/" + left));
  WriteFileForTest(dir / "run/.summary.json.tmp-999999999-deadbeef", "{");
  STOKER_ASSERT_OK(RunDirectory::Open(dir / "run"));
  EXPECT_FALSE(std::filesystem::exists(dir / ("run/checkpoints/" + left)));
  EXPECT_FALSE(std::filesystem::exists(dir / "run/.summary.json.tmp-999999999-deadbeef"));
}

TEST(RunDirectory, RemovesItsResultsWhereThereAreAny) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(RunDirectory run, RunDirectory::Create({dir / "run"}, kRecipe));
  STOKER_EXPECT_OK(run.RemoveResults());
  WriteFileForTest(run.paths().weights(), "w");
  STOKER_ASSERT_OK(run.WriteSummary({{"step", 1}}));
  STOKER_EXPECT_OK(run.RemoveResults());
  EXPECT_FALSE(std::filesystem::exists(run.paths().weights()));
  EXPECT_FALSE(std::filesystem::exists(run.paths().summary()));
}

TEST(RunDirectory, DiscardedItLeavesNothingButWhatOthersPutThere) {
  const TempDir dir;
  for (const char* const other : {"", "notes.txt", "checkpoints", ".recipe.yaml.tmp-mine",
                                  ".recipe.yaml.tmp-1-deadbeef.txt"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(RunDirectory run,
                                RunDirectory::Create({dir / "above/run/"}, kRecipe));
    STOKER_ASSERT_OK(run.WriteData(Json::object()));
    run.Log("hello");
    WriteFileForTest(dir / "above/run/events.out.tfevents.1.host.1.0", "");
    WriteFileForTest(dir / "above/run/.choices.json.tmp-1-deadbeef", "{");  // of another thread
    if (*other != 0) WriteFileForTest(dir / (std::string("above/run/") + other), "x");
    run.held()->Discard();
    EXPECT_EQ(std::filesystem::exists(dir / "above/run"), *other != 0) << other;
    EXPECT_EQ(std::filesystem::is_empty(dir.path()), *other == 0) << other;
    EXPECT_EQ(ReadRunRecipe(dir / "above/run").ok(), *other != 0) << other;
    std::filesystem::remove_all(dir / "above");
  }
}

TEST(RunDirectory, DiscardedItLeavesADirectoryThatWasThereBeforeAndEmpty) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "run");
  STOKER_ASSERT_OK_AND_ASSIGN(RunDirectory run, RunDirectory::Create({dir / "run"}, kRecipe));
  STOKER_ASSERT_OK(run.WriteData(Json::object()));
  run.held()->Discard();
  EXPECT_TRUE(std::filesystem::is_empty(dir / "run"));
  STOKER_EXPECT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
}

// As where a signal comes after a run was refused, and another process has begun one of its name.
TEST(RunDirectory, DiscardedTwiceItLeavesTheRunThatTookItsName) {
  const TempDir dir;
  for (const bool there_before : {false, true}) {
    const std::string root = dir / (there_before ? "old/run" : "run");
    if (there_before) std::filesystem::create_directories(root);
    STOKER_ASSERT_OK_AND_ASSIGN(const RunDirectory first, RunDirectory::Create({root}, kRecipe));
    first.held()->Discard();
    STOKER_ASSERT_OK(RunDirectory::Create({root}, kRecipe));
    first.held()->Discard();
    STOKER_EXPECT_OK(ReadRunRecipe(root)) << there_before;
  }
}

TEST(RunDirectory, SaysThatItsNameIsAnothersOrNobodysNow) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const RunDirectory run, RunDirectory::Create({dir / "run"}, kRecipe));
  STOKER_EXPECT_OK(run.held()->CheckPlace());
  std::filesystem::remove(run.paths().lock());
  STOKER_EXPECT_OK(run.held()->CheckPlace());
  std::filesystem::rename(dir / "run", dir / "renamed");
  EXPECT_THAT(run.held()->CheckPlace(), FailsWith(StatusCode::kFailedPrecondition,
                                                  "is not the directory of this run any more"));
  STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
  EXPECT_THAT(run.held()->CheckPlace(), FailsWith(StatusCode::kFailedPrecondition, "any more"));
  STOKER_EXPECT_OK(RunDirectory::Nowhere().held()->CheckPlace());
}

TEST(RunDirectory, OneThatWasOpenedIsNotDiscarded) {
  const TempDir dir;
  STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
  STOKER_ASSERT_OK_AND_ASSIGN(const RunDirectory run, RunDirectory::Open(dir / "run"));
  run.held()->Discard();
  STOKER_EXPECT_OK(ReadRunRecipe(dir / "run"));
}

TEST(RunDirectory, WhoseRecipeCannotBeWrittenLeavesNothing) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "old");
  for (const char* const root : {"above/run", "old"}) {
    const FileSizeLimit full(0);
    EXPECT_THAT(RunDirectory::Create({dir / root}, kRecipe),
                FailsWith(StatusCode::kResourceExhausted, "recipe.yaml"));
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "above"));
  EXPECT_TRUE(std::filesystem::is_empty(dir / "old"));
}

TEST(RunDirectory, ForWhichFilesAreShortLeavesNothing) {
  const TempDir dir;
  {
    const NoMoreFiles all_but_the_lock(/*spare=*/1);
    EXPECT_THAT(RunDirectory::Create({dir / "run"}, kRecipe).status().message(),
                testing::HasSubstr("open files"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// What a lock file is replaced by while a process waits to open it locks another file.
TEST(RunDirectory, IsHeldByWhoeverGotItWhileOthersBeginAndDiscardTheirs) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "run");
  std::atomic<int> unlocked = 0, begun = 0;
  const auto work = [&] {
    for (int i = 0; i < 300; ++i) {
      const Result<RunDirectory> run = RunDirectory::Create({dir / "run"}, kRecipe);
      if (!run.ok()) continue;
      ++begun;
      if (!RunIsHeld(dir / "run")) ++unlocked;
      run->held()->Discard();
    }
  };
  { const std::jthread one(work), two(work), three(work); }
  EXPECT_GT(begun, 0);
  EXPECT_EQ(unlocked, 0);
}

TEST(RunDirectory, AcceptsAnEmptyDirectory) {
  const TempDir dir;
  STOKER_EXPECT_OK(RunDirectory::Create({dir.path()}, kRecipe));
}

TEST(RunDirectory, BelongsToOneProcessAtATime) {
  const TempDir dir;
  const std::string root = dir / "run";
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const RunDirectory first, RunDirectory::Create({root}, kRecipe));
    EXPECT_THAT(RunDirectory::Open(root),
                FailsWith(StatusCode::kUnavailable, "another process is training"));
    EXPECT_THAT(RunDirectory::Create({root}, kRecipe),
                FailsWith(StatusCode::kUnavailable, "another process is training"));
  }
  STOKER_EXPECT_OK(RunDirectory::Open(root));
}

TEST(RunDirectory, WhatIsNoRunIsNotOpened) {
  const TempDir dir;
  EXPECT_THAT(RunDirectory::Open(dir.path()),
              FailsWith(StatusCode::kNotFound, "is no run directory"));
  EXPECT_THAT(ReadRunRecipe(dir / "nowhere"),
              FailsWith(StatusCode::kNotFound, "is no run directory"));
}

TEST(RunDirectory, RemembersChoices) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(RunDirectory run, RunDirectory::Create({dir / "run"}, kRecipe));
  STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Choices> choices, ReadRunChoices(run.paths().root));
  EXPECT_FALSE(choices.has_value());
  const Choices chosen{
      .memory_format = MemoryFormat::kChannelsLast, .threads = 7, .device = "cuda:1"};
  STOKER_ASSERT_OK(run.WriteChoices(chosen));
  STOKER_ASSERT_OK_AND_ASSIGN(choices, ReadRunChoices(run.paths().root));
  EXPECT_EQ(choices, chosen);
}

TEST(RunDirectory, DamagedChoicesAreReportedWithTheirFile) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const RunDirectory run, RunDirectory::Create({dir / "run"}, kRecipe));
  for (const char* text : {"", "{", "[]", "{}", R"({"memory_format": "contiguous"})",
                           R"({"memory_format": "contiguous", "threads": 0})",
                           R"({"memory_format": "contiguous", "threads": "2"})",
                           R"({"memory_format": 1, "threads": 1, "device": "cpu"})",
                           R"({"memory_format": "contiguous", "threads": 1})",
                           R"({"memory_format": "diagonal", "threads": 1, "device": "cpu"})",
                           R"({"memory_format": "contiguous", "threads": 1, "device": "cpu",
                               "feed_threads": -1})",
                           R"({"memory_format": "contiguous", "threads": 1, "device": "cpu",
                               "device_prefetch": 65})",
                           R"({"memory_format": "contiguous", "threads": 1, "device": "cpu",
                               "cudnn_benchmark": "on"})"}) {
    WriteFileForTest(run.paths().choices(), text);
    const auto choices = ReadRunChoices(run.paths().root);
    EXPECT_FALSE(choices.ok()) << text;
    EXPECT_THAT(choices.status().message(), testing::HasSubstr("choices.json")) << text;
  }
}

TEST(RunDirectory, IsSeenToBeHeldWhileItIsOpenAndOnlyThen) {
  const TempDir dir;
  EXPECT_FALSE(RunIsHeld(dir / "run"));
  {
    const auto run = RunDirectory::Create({dir / "run"}, kRecipe);
    STOKER_ASSERT_OK(run);
    EXPECT_TRUE(RunIsHeld(dir / "run"));
    EXPECT_THAT(RunDirectory::Open(dir / "run"),
                FailsWith(StatusCode::kUnavailable, "another process is training in this run"));
  }
  EXPECT_FALSE(RunIsHeld(dir / "run"));
}

TEST(RunDirectory, CanBeOpenedHoweverOftenOthersAskWhetherItIsHeld) {
  const TempDir dir;
  STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
  std::atomic<bool> stop = false;
  std::atomic<int64_t> asked = 0;
  std::jthread asks([&] {
    for (; !stop; ++asked) RunIsHeld(dir / "run");
  });
  for (int opened = 0; opened < 300 || asked < 1000; ++opened) {
    const Status status = RunDirectory::Open(dir / "run").status();
    if (!status.ok()) stop = true;
    STOKER_ASSERT_OK(status);
  }
  stop = true;
}

TEST(RunDirectory, LogsLinesWithTheTime) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(RunDirectory run, RunDirectory::Create({dir / "run"}, kRecipe));
  run.Log("one");
  run.Log("two\nlines \x1b[31m");
  EXPECT_THAT(ReadFileForTest(run.paths().log()),
              testing::MatchesRegex("20..-..-.. ..:..:.. one\n"
                                    "20..-..-.. ..:..:.. two[\\\\]nlines [\\\\]u001b.31m\n"));
}

TEST(NewRunPath, IsNamedAfterRecipeAndTimeAndDoesNotExist) {
  const TempDir dir;
  const auto now = std::chrono::system_clock::now();
  const auto first = NewRunPath(dir.path(), "fashion", now);
  EXPECT_THAT(first.filename().string(), testing::MatchesRegex("fashion-20......-......"));
  std::filesystem::create_directory(first);
  const auto second = NewRunPath(dir.path(), "fashion", now);
  EXPECT_EQ(second.string(), first.string() + "-2");
  std::filesystem::create_directory(second);
  EXPECT_EQ(NewRunPath(dir.path(), "fashion", now).string(), first.string() + "-3");
}

TEST(RunDirectory, AFileThatIsALinkIsRefusedAndWhatItLeadsToStaysWhole) {
  for (const char* name : {"metrics.jsonl", "log", "lock"}) {
    const TempDir dir;
    STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
    WriteFileForTest(dir / "thesis", "precious");
    const std::string link = dir / (std::string("run/") + name);
    std::filesystem::remove(link);
    std::filesystem::create_symlink(dir / "thesis", link);
    EXPECT_THAT(RunDirectory::Open(dir / "run"),
                FailsWith(StatusCode::kFailedPrecondition, link + ": is a symbolic link to "));
    EXPECT_EQ(ReadFileForTest(dir / "thesis"), "precious");
  }
}

void PutPipeAt(const std::string& path) {
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
}

TEST(RunDirectory, APipeInThePlaceOfAFileIsRefusedAndNotWaitedFor) {
  for (const char* name : {"metrics.jsonl", "log", "lock", "recipe.yaml"}) {
    const TempDir dir;
    STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
    const std::string pipe = dir / (std::string("run/") + name);
    PutPipeAt(pipe);
    EXPECT_THAT(RunDirectory::Open(dir / "run"),
                FailsWith(StatusCode::kFailedPrecondition, pipe + ": is "));
  }
  const TempDir dir;
  STOKER_ASSERT_OK(RunDirectory::Create({dir / "run"}, kRecipe));
  const RunPaths paths{dir.path() / "run"};
  for (const std::string& path : {paths.choices(), paths.data(), paths.learned(), paths.summary(),
                                  paths.allowed_changes(), ProgressPath(paths.root)})
    PutPipeAt(path);
  const auto refused = FailsWith(StatusCode::kFailedPrecondition, "is a pipe, socket or device");
  EXPECT_THAT(ReadRunChoices(paths.root), refused);
  EXPECT_THAT(ReadRunData(paths.root), refused);
  EXPECT_THAT(ReadRunLearned(paths.root), refused);
  EXPECT_THAT(ReadRunSummary(paths.root), refused);
  EXPECT_THAT(ReadAllowedChanges(paths.root), refused);
  EXPECT_THAT(ReadPublishedProgress(paths.root), refused);
}

TEST(MetricsFile, ALinkIsNotFollowed) {
  const TempDir dir;
  WriteFileForTest(dir / "thesis", "precious");
  std::filesystem::create_symlink(dir / "thesis", dir / "m");
  EXPECT_THAT(MetricsFile::Open(dir / "m"),
              FailsWith(StatusCode::kFailedPrecondition, "is a symbolic link"));
}

TEST(MetricsFile, OneThatIsShorterThanItWasIsNotCutBack) {
  const TempDir dir;
  WriteFileForTest(dir / "m", "{\"step\":1}\n");
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile metrics, MetricsFile::Open(dir / "m"));
  EXPECT_THAT(metrics.CutBack(12), FailsWith(StatusCode::kDataLoss, "has 11 bytes, and 12 were"));
  EXPECT_EQ(ReadFileForTest(dir / "m"), "{\"step\":1}\n");
}

TEST(MetricsFile, AppendsOneLineAnObject) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile metrics, MetricsFile::Open(dir / "m"));
  STOKER_ASSERT_OK(metrics.Append({{"step", 1}}));
  STOKER_ASSERT_OK(metrics.Append({{"step", 2}}));
  EXPECT_EQ(ReadFileForTest(dir / "m"), "{\"step\":1}\n{\"step\":2}\n");
}

TEST(MetricsFile, CutBackRemovesWhatCameLaterAndGoesOnFromThere) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile metrics, MetricsFile::Open(dir / "m"));
  STOKER_ASSERT_OK(metrics.Append({{"step", 1}}));
  STOKER_ASSERT_OK(metrics.Sync());
  STOKER_ASSERT_OK_AND_ASSIGN(const uint64_t size, metrics.Size());
  STOKER_ASSERT_OK(metrics.Append({{"step", 2}}));
  STOKER_ASSERT_OK(metrics.CutBack(size));
  EXPECT_EQ(ReadFileForTest(dir / "m"), "{\"step\":1}\n");
  STOKER_ASSERT_OK(metrics.Append({{"step", 3}}));
  EXPECT_EQ(ReadFileForTest(dir / "m"), "{\"step\":1}\n{\"step\":3}\n");
}

struct CutCase {
  const char *before, *after;
  uint64_t size;
};
constexpr CutCase kCuts[] = {
    {"", "", 0},         {"{}\n", "{}\n", 3}, {"{}\n{\"st", "{}\n", 7}, {"{\"st", "", 4},
    {"{}\n{}\n", "", 0}, {"{}\n{}\n", "", 2}, {"{}\n{}\n", "{}\n", 3},  {"{}\n{}\n", "{}\n", 5},
};

TEST(MetricsFile, CutBackLeavesOnlyWholeLines) {
  for (const CutCase& cut : kCuts) {
    const TempDir dir;
    WriteFileForTest(dir / "m", cut.before);
    STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile metrics, MetricsFile::Open(dir / "m"));
    STOKER_ASSERT_OK(metrics.CutBack(cut.size));
    EXPECT_EQ(ReadFileForTest(dir / "m"), cut.after) << cut.before << " cut to " << cut.size;
  }
}

// The end of a line may be far from the end of what is kept.
TEST(MetricsFile, CutBackFindsTheEndOfALineBeforeOneOfManyBytes) {
  const TempDir dir;
  const std::string line = "{\"step\":1}\n";
  for (const size_t bytes : {4084, 4085, 4086, 4096, 20'000}) {
    WriteFileForTest(dir / "m", line + std::string(bytes, 'x'));
    STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile metrics, MetricsFile::Open(dir / "m"));
    STOKER_ASSERT_OK(metrics.CutBack(line.size() + bytes));
    EXPECT_EQ(ReadFileForTest(dir / "m"), line) << bytes;
  }
}

TEST(MetricsFile, AFullDiskIsReportedWithThePath) {
  // Linux's device that is always full.
  STOKER_ASSERT_OK_AND_ASSIGN(MetricsFile metrics, MetricsFile::Open("/dev/full"));
  EXPECT_THAT(metrics.Append({{"step", 1}}),
              FailsWith(StatusCode::kResourceExhausted, "/dev/full"));
}

TEST(RunDirectoryNowhere, TakesWhatIsWrittenAndKeepsNothing) {
  RunDirectory run = RunDirectory::Nowhere();
  EXPECT_TRUE(run.nowhere());
  STOKER_EXPECT_OK(run.WriteRecipe(ConfigNode::Map({})));
  STOKER_EXPECT_OK(run.WriteChoices({}));
  STOKER_EXPECT_OK(run.RemoveChoices());
  STOKER_EXPECT_OK(run.WriteSummary({}));
  STOKER_EXPECT_OK(run.RemoveResults());
  run.Log("nobody reads this");
  run.held()->Discard();
  MetricsFile metrics = MetricsFile::Nowhere();
  STOKER_EXPECT_OK(metrics.Append({{"step", 1}}));
  STOKER_EXPECT_OK(metrics.Sync());
  STOKER_EXPECT_OK(metrics.CutBack(17));
  STOKER_ASSERT_OK_AND_ASSIGN(const uint64_t size, metrics.Size());
  EXPECT_EQ(size, 0);
  for (const char* name : {"recipe.yaml", "choices.json", "summary.json", "log"})
    EXPECT_FALSE(std::filesystem::exists(name)) << name;
}

}  // namespace stoker::run_directory_test
