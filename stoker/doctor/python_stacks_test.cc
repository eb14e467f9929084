#include "stoker/doctor/python_stacks.h"

#include <algorithm>

#include "stoker/base/testing.h"
#include "stoker/doctor/diagnose_processes.h"

namespace stoker::python_stacks_test {

using testing::HasSubstr;

constexpr const char* kTorch = "/venv/lib/python3.11/site-packages/torch/";

StackFrame Own(std::string function, int64_t line, std::string text = {}) {
  return {.function = std::move(function),
          .file = "train.py",
          .line = line,
          .own = true,
          .text = std::move(text)};
}
StackFrame Library(std::string function, const std::string& file) {
  return {.function = std::move(function), .file = file, .line = 1};
}
StackFrame Torch(std::string function, const std::string& file) {
  return Library(std::move(function), kTorch + file);
}

const std::vector<StackFrame> kLoad = {Own("<module>", 90), Own("main", 40, "for x, y in loader:"),
                                       Torch("__next__", "utils/data/dataloader.py"),
                                       Torch("fetch", "utils/data/_utils/fetch.py"),
                                       Own("__getitem__", 12, "return slow(self.x[i])")};
const std::vector<StackFrame> kWait = {Own("<module>", 90), Own("main", 40),
                                       Torch("__next__", "utils/data/dataloader.py"),
                                       Torch("_try_get_data", "utils/data/dataloader.py")};
const std::vector<StackFrame> kBackward = {Own("<module>", 90), Own("main", 44, "loss.backward()"),
                                           Torch("backward", "_tensor.py")};
const std::vector<StackFrame> kPrepare = {Own("<module>", 88),
                                          Own("prepare", 7, "rows.append(parse(line))")};
const std::vector<StackFrame> kImport = {
    Own("<module>", 1), Library("_find_and_load", "<frozen importlib._bootstrap>")};
const std::vector<StackFrame> kEvaluate = {Own("<module>", 90), Own("evaluate", 60),
                                           Torch("__next__", "utils/data/dataloader.py")};
const std::vector<StackFrame> kLog = {Own("<module>", 90),
                                      Own("main", 50, "print(step, loss.item(), file=f)")};
const std::vector<StackFrame> kLocked = {Torch("_worker_loop", "utils/data/_utils/worker.py"),
                                         Own("__getitem__", 20, "with self.lock:")};

// The first thread of process 10 spends so many moments in each, in this order.
PythonStacks Stacks(const std::vector<std::pair<std::vector<StackFrame>, int64_t>>& moments) {
  PythonStacks stacks{
      .samples_per_s = 50, .stacks = {}, .threads = {{.pid = 10, .id = 10, .samples = {}}}};
  for (const auto& [stack, count] : moments) {
    stacks.threads[0].samples.insert(stacks.threads[0].samples.end(), static_cast<size_t>(count),
                                     std::ssize(stacks.stacks));
    stacks.stacks.push_back(stack);
  }
  return stacks;
}

Diagnosis Of(const PythonStacks& stacks, const ThreadTimes& first,
             std::vector<ThreadTimes> workers = {}) {
  ProcessProfile profile{
      .host = "here", .cpus = 4, .seconds = 20, .framework = Framework::kPyTorch};
  profile.processes.push_back({.pid = 10,
                               .role = ProcessRole::kMain,
                               .command = {},
                               .seconds = 20,
                               .first = first,
                               .others = {},
                               .cpus = first.cpu});
  for (const ThreadTimes& each : workers) {
    profile.processes.push_back({.pid = 11 + std::ssize(profile.processes),
                                 .role = ProcessRole::kWorker,
                                 .command = {},
                                 .seconds = 20,
                                 .first = each,
                                 .others = {},
                                 .cpus = each.cpu});
  }
  profile.python = ViewOf(stacks, 10);
  profile.loader = {.place = "train.py:30", .num_workers = {}, .batch_size = 64};
  return DiagnoseProcesses(profile);
}

TEST(PartOf, GoesByTheOutermostFrameThatIsKnown) {
  EXPECT_EQ(PartOf(kLoad), PythonPart::kInput);
  EXPECT_EQ(PartOf(kBackward), PythonPart::kCompute);
  EXPECT_EQ(PartOf(kEvaluate), PythonPart::kEvaluation);
  EXPECT_EQ(PartOf(kLog), PythonPart::kLogging);
  EXPECT_EQ(PartOf(kImport), PythonPart::kImport);
  EXPECT_EQ(PartOf(kPrepare), PythonPart::kOther);
  EXPECT_EQ(PartOf({}), PythonPart::kOther);
}

TEST(PartOf, FunctionsThatMakeBatchesAreInput) {
  EXPECT_EQ(PartOf({Own("main", 1), Own("get_batch", 2)}), PythonPart::kInput);
  EXPECT_EQ(PartOf({Own("main", 1), Own("makeSample", 2)}), PythonPart::kInput);
  EXPECT_EQ(PartOf({Own("train_batch", 2)}), PythonPart::kOther);
  EXPECT_EQ(PartOf({Own("sample", 2)}), PythonPart::kOther);  // a model may do so
}

TEST(PartOf, TakesWordsOfNamesWhole) {
  EXPECT_EQ(PartOf({Own("logits", 1)}), PythonPart::kOther);
  EXPECT_EQ(PartOf({Own("catalog", 1)}), PythonPart::kOther);
  EXPECT_EQ(PartOf({Own("write_log", 1)}), PythonPart::kLogging);
  EXPECT_EQ(PartOf({Own("Trainer.validateAll", 1)}), PythonPart::kEvaluation);
}

TEST(ViewOf, SharesAreOfTheTimeAfterTheFirstStep) {
  const PythonView view =
      ViewOf(Stacks({{kImport, 20}, {kPrepare, 30}, {kLoad, 30}, {kBackward, 20}}), 10);
  EXPECT_TRUE(view.trains);
  EXPECT_EQ(view.samples, 100);
  EXPECT_NEAR(view.startup_share, 0.3, 1e-9);
  EXPECT_EQ(view.startup.place, "train.py:7");
  EXPECT_NEAR(view.of(PythonPart::kInput).share, 0.6, 1e-9);
  EXPECT_EQ(view.of(PythonPart::kInput).blame.place, "train.py:12");
  EXPECT_NEAR(view.of(PythonPart::kCompute).share, 0.4, 1e-9);
  EXPECT_EQ(view.ToJson()["parts"]["input"]["line"]["text"], "return slow(self.x[i])");
}

TEST(ViewOf, ModulesThatAreLoadedWithTheFirstStepTakeNoShareFromTheOthers) {
  const PythonView view =
      ViewOf(Stacks({{kImport, 20}, {kLoad, 10}, {kImport, 60}, {kLoad, 20}, {kBackward, 30}}), 10);
  EXPECT_EQ(view.startup_share, 0);
  EXPECT_NEAR(view.of(PythonPart::kInput).share, 0.5, 1e-9);
  EXPECT_NEAR(view.of(PythonPart::kCompute).share, 0.5, 1e-9);
  EXPECT_EQ(view.of(PythonPart::kImport).share, 0);
  // Where nothing else was seen, they are all that there is.
  EXPECT_NEAR(ViewOf(Stacks({{kImport, 20}}), 10).of(PythonPart::kImport).share, 1, 1e-9);
}

TEST(ViewOf, OfNothingOrOfAnotherProcessIsNothing) {
  EXPECT_EQ(ViewOf({}, 10).samples, 0);
  EXPECT_EQ(ViewOf(Stacks({{kLoad, 5}}), 99).samples, 0);
}

TEST(DiagnoseStacks, AnInputWithoutWorkersNamesTheLoaderAndTheLine) {
  const Diagnosis diagnosis = Of(Stacks({{kLoad, 60}, {kBackward, 40}}), {.cpu = 1});
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  EXPECT_EQ(diagnosis.stage, "train.py:12");
  EXPECT_THAT(diagnosis.why, HasSubstr("return slow"));
  EXPECT_THAT(diagnosis.prescriptions.at(0).text,
              HasSubstr("train.py:30: DataLoader(num_workers=4"));
}

const std::vector<StackFrame> kCompile = {
    Own("<module>", 90), Own("main", 44, "weights, loss = step(weights, x)"),
    Library("_cpp_pjit.<locals>.cache_miss", "/site-packages/jax/_src/pjit.py"),
    Library("backend_compile_and_load", "/site-packages/jax/_src/compiler.py")};
const std::vector<StackFrame> kRun = {
    kCompile[0], kCompile[1], kCompile[2],
    Library("ExecuteReplicated.__call__", "/site-packages/jax/_src/interpreters/pxla.py")};

TEST(DiagnoseStacks, AFunctionThatIsCompiledAgainAndAgainIsNamedWithItsLine) {
  std::vector<std::pair<std::vector<StackFrame>, int64_t>> moments;
  for (int step = 0; step < 20; ++step) moments.insert(moments.end(), {{kCompile, 3}, {kRun, 5}});
  const Diagnosis diagnosis = Of(Stacks(moments), {.cpu = 1});
  EXPECT_EQ(diagnosis.verdict, Verdict::kCompute);
  EXPECT_EQ(diagnosis.stage, "train.py:44");
  EXPECT_THAT(diagnosis.why, HasSubstr("compiled again and again, 38%"));
  EXPECT_THAT(diagnosis.prescriptions.at(0).text, HasSubstr("dynamic=True"));
}

TEST(DiagnoseStacks, CompilationsBetweenWhichNoStepIsSeenAreCountedByTheirPhases) {
  const std::vector<StackFrame> trace(kCompile.begin(), kCompile.end() - 1);
  std::vector<std::pair<std::vector<StackFrame>, int64_t>> moments;
  for (int step = 0; step < 20; ++step) moments.insert(moments.end(), {{trace, 2}, {kCompile, 3}});
  EXPECT_THAT(Of(Stacks(moments), {.cpu = 1}).why, HasSubstr("compiled again and again"));
}

TEST(DiagnoseStacks, OneCompilationHoweverLongIsNoLoss) {
  EXPECT_THAT(Of(Stacks({{kCompile, 90}, {kRun, 10}}), {.cpu = 1}).prescriptions,
              testing::IsEmpty());
  EXPECT_THAT(Of(Stacks({{kCompile, 20}, {kRun, 80}}), {.cpu = 1}).prescriptions,
              testing::IsEmpty());
}

TEST(DiagnoseStacks, OfAHealthyProgramPrescribeNothing) {
  const Diagnosis diagnosis = Of(Stacks({{kImport, 10},
                                         {kPrepare, 10},
                                         {kWait, 5},
                                         {kBackward, 170},
                                         {kEvaluate, 10},
                                         {kLog, 3}}),
                                 {.cpu = 1});
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
  EXPECT_TRUE(diagnosis.prescriptions.empty());
}

TEST(DiagnoseStacks, WhatPrecedesTheFirstStepIsStartup) {
  const Diagnosis diagnosis = Of(Stacks({{kPrepare, 70}, {kBackward, 30}}), {.cpu = 1});
  EXPECT_EQ(diagnosis.verdict, Verdict::kStartup);
  EXPECT_EQ(diagnosis.stage, "train.py:7");
}

TEST(DiagnoseStacks, EvaluationsAndLoggingAreNamed) {
  EXPECT_EQ(Of(Stacks({{kBackward, 40}, {kEvaluate, 60}}), {.cpu = 1}).verdict,
            Verdict::kEvaluation);
  EXPECT_EQ(Of(Stacks({{kBackward, 40}, {kLog, 60}}), {.cpu = 1}).verdict, Verdict::kLogging);
}

TEST(DiagnoseStacks, ALineThatTakesALockIsToBlameForWorkersThatHoldIt) {
  PythonStacks stacks = Stacks({{kWait, 90}, {kBackward, 10}, {kLocked, 0}, {kLoad, 0}});
  stacks.threads.push_back({.pid = 12, .id = 12, .samples = {2, 2, 2, 3, 3}});
  stacks.threads.push_back({.pid = 13, .id = 13, .samples = {2, 2, 2, 3, 3}});
  const Diagnosis diagnosis =
      Of(stacks, {.cpu = 0.1, .poll = 0.9}, {{.cpu = 0.5, .lock = 0.5}, {.cpu = 0.5, .lock = 0.5}});
  EXPECT_EQ(diagnosis.verdict, Verdict::kLock);
  EXPECT_EQ(diagnosis.stage, "train.py:20");
}

TEST(DiagnoseStacks, WorkersThatDecodeAreNamedSo) {
  std::vector<StackFrame> decode = kLoad;
  decode.push_back(Library("load", "/venv/lib/python3.11/site-packages/PIL/ImageFile.py"));
  PythonStacks stacks = Stacks({{kWait, 90}, {kBackward, 10}, {decode, 0}});
  stacks.threads.push_back({.pid = 12, .id = 12, .samples = {2, 2, 2}});
  EXPECT_EQ(Of(stacks, {.cpu = 0.1, .poll = 0.9}, {{.cpu = 1}}).verdict, Verdict::kDecode);
}

TEST(DiagnoseStacks, ShortStepsOfSmallBatchesAreSmallRecords) {
  std::vector<std::pair<std::vector<StackFrame>, int64_t>> moments;
  for (int i = 0; i < 60; ++i) moments.insert(moments.end(), {{kLoad, 1}, {kBackward, 1}});
  const PythonStacks stacks = Stacks(moments);
  ProcessProfile profile{
      .host = "here", .cpus = 4, .seconds = 20, .framework = Framework::kPyTorch};
  profile.processes.push_back({.pid = 10,
                               .role = ProcessRole::kMain,
                               .command = {},
                               .seconds = 20,
                               .first = {.cpu = 1},
                               .others = {},
                               .cpus = 1});
  profile.python = ViewOf(stacks, 10);
  profile.loader = {.place = "train.py:30", .num_workers = {}, .batch_size = 2};
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kSmallRecords);
  EXPECT_TRUE(std::ranges::any_of(diagnosis.prescriptions, [](const Prescription& each) {
    return each.text.starts_with("train.py:30: batch_size=16") && !each.caution.empty();
  }));
  profile.loader.batch_size = 128;
  EXPECT_EQ(DiagnoseProcesses(profile).verdict, Verdict::kThreads);
}

}  // namespace stoker::python_stacks_test
