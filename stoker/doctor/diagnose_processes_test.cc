// What /proc shows of the planted programs is from recordings: an input that is slow, a lock, a
// slow disk, too many threads.
#include "stoker/doctor/diagnose_processes.h"

#include <limits>

#include "stoker/base/testing.h"

namespace stoker::diagnose_processes_test {

using testing::HasSubstr;
using testing::IsEmpty;

ProcessTimes Main(const ThreadTimes& first) {
  return {.pid = 10,
          .role = ProcessRole::kMain,
          .command = "python3 train.py",
          .seconds = 20,
          .first = first,
          .others = {},
          .threads = 1,
          .cpus = first.cpu};
}
ProcessTimes Worker(int64_t pid, const ThreadTimes& first) {
  return {.pid = pid,
          .role = ProcessRole::kWorker,
          .command = "python3 train.py",
          .seconds = 20,
          .first = first,
          .others = {},
          .threads = 1,
          .cpus = first.cpu};
}
// Its stacks, which were recorded, have nothing to say.
ProcessProfile Of(std::vector<ProcessTimes> processes, int64_t cpus = 4) {
  return {.host = "here",
          .cpus = cpus,
          .command = "python3 train.py",
          .seconds = 20,
          .framework = Framework::kPyTorch,
          .processes = std::move(processes),
          .python = PythonView()};
}
Verdict VerdictOf(const ProcessProfile& profile) { return DiagnoseProcesses(profile).verdict; }

// Two workers keep it busy.
ProcessProfile Healthy() {
  return Of({Main({.cpu = 0.95, .poll = 0.05}), Worker(11, {.cpu = 0.3, .poll = 0.7}),
             Worker(12, {.cpu = 0.3, .poll = 0.7})});
}

TEST(DiagnoseProcesses, OfAHealthyProgramPrescribesNothing) {
  const Diagnosis diagnosis = DiagnoseProcesses(Healthy());
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
  EXPECT_THAT(diagnosis.prescriptions, IsEmpty());
  EXPECT_EQ(diagnosis.host, "here");
}

TEST(DiagnoseProcesses, OfPythonWithoutStacksIsUnknownUnlessItsGpuIsBusy) {
  ProcessProfile profile = Healthy();
  profile.python.reset();
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kUnknown);
  EXPECT_THAT(diagnosis.why, HasSubstr("py-spy"));
  EXPECT_THAT(diagnosis.prescriptions, IsEmpty());
  EXPECT_EQ(diagnosis.Sentence(), "What was measured does not say whether time is lost.");
  profile.cuda = {.busy = 0.95, .kernels_per_s = 1000};
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
  profile.cuda.reset();
  profile.framework = Framework::kUnknown;  // no Python, as far as is known
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
}

TEST(DiagnoseProcesses, OfAnInputThatStokerMakesFasterShowsHow) {
  ProcessProfile profile = Healthy();
  profile.processes = {Main({.cpu = 0.95})};
  profile.python = PythonView{.samples = 500, .trains = true};
  profile.python->parts[static_cast<size_t>(PythonPart::kInput)].share = 0.7;
  profile.loader = {.place = "train.py:12", .num_workers = 0, .batch_size = 48};
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  EXPECT_THAT(diagnosis.snippet, HasSubstr("DataLoader(dataset, batch_size=48, num_workers=4)"));
  profile.loader = {};
  EXPECT_EQ(DiagnoseProcesses(profile).snippet, "");
  EXPECT_EQ(DiagnoseProcesses(Healthy()).snippet, "");
}

TEST(DiagnoseProcesses, OfNothingIsUnknown) {
  const Diagnosis diagnosis = DiagnoseProcesses({.error = "it ended", .interrupted = true});
  EXPECT_EQ(diagnosis.verdict, Verdict::kUnknown);
  EXPECT_EQ(diagnosis.error, "it ended");
  EXPECT_TRUE(diagnosis.interrupted);
}

TEST(DiagnoseProcesses, OfOneThatFailedIsUnknownUnlessALossWasSeenBefore) {
  ProcessProfile failed = Healthy();
  failed.ended = true;
  failed.seconds = 0.3;
  failed.exit_code = 1;
  EXPECT_EQ(VerdictOf(failed), Verdict::kUnknown);
  EXPECT_EQ(DiagnoseProcesses(failed).why, "the program failed after 0.3 s (exit code 1)");
  failed.exit_code = 0;
  EXPECT_EQ(VerdictOf(failed), Verdict::kNone);
  ProcessProfile starved =
      Of({Main({.cpu = 0.06, .poll = 0.94}), Worker(11, {.cpu = 0.99}), Worker(12, {.cpu = 0.98})});
  starved.ended = true;
  starved.exit_code = 1;
  EXPECT_EQ(VerdictOf(starved), Verdict::kAugmentation);
}

TEST(DiagnoseProcesses, WorkersThatComputeAllTheTimeAreTooSlow) {
  const Diagnosis diagnosis = DiagnoseProcesses(Of(
      {Main({.cpu = 0.06, .poll = 0.94}), Worker(11, {.cpu = 0.99}), Worker(12, {.cpu = 0.98})}));
  EXPECT_EQ(diagnosis.verdict, Verdict::kAugmentation);
  EXPECT_NEAR(diagnosis.lost_share, 0.94, 1e-9);
  ASSERT_FALSE(diagnosis.prescriptions.empty());
  bool more = false;
  for (const Prescription& each : diagnosis.prescriptions)
    more = more || each.text.find("num_workers=3") != std::string::npos;
  EXPECT_TRUE(more);
}

TEST(DiagnoseProcesses, WithoutFreeCpusMoreWorkersAreNotPrescribed) {
  const Diagnosis diagnosis = DiagnoseProcesses(
      Of({Main({.cpu = 0.06, .poll = 0.94}), Worker(11, {.cpu = 0.99}), Worker(12, {.cpu = 0.98})},
         2));
  EXPECT_EQ(diagnosis.verdict, Verdict::kAugmentation);
  for (const Prescription& each : diagnosis.prescriptions)
    EXPECT_THAT(each.text, testing::Not(HasSubstr("num_workers")));
}

TEST(DiagnoseProcesses, OneWorkerThatTheOthersWaitForIsASlowElement) {
  const Diagnosis diagnosis = DiagnoseProcesses(
      Of({Main({.cpu = 0.1, .poll = 0.9}), Worker(11, {.cpu = 0.1, .poll = 0.9}),
          Worker(12, {.cpu = 0.9, .poll = 0.1}), Worker(13, {.cpu = 0.1, .poll = 0.9})}));
  EXPECT_EQ(diagnosis.verdict, Verdict::kSlowElement);
  EXPECT_THAT(diagnosis.why, HasSubstr("pid 12"));
}

TEST(DiagnoseProcesses, WorkersInFutexWithoutCpuShareALock) {
  EXPECT_EQ(
      VerdictOf(Of({Main({.cpu = 0.05, .poll = 0.95}), Worker(11, {.lock = 0.5, .sleep = 0.45}),
                    Worker(12, {.lock = 0.55, .sleep = 0.45})})),
      Verdict::kLock);
}

TEST(DiagnoseProcesses, ADiskIsToBlameForWorkersAndForTheFirstThread) {
  EXPECT_EQ(VerdictOf(Of({Main({.cpu = 0.1, .poll = 0.9}), Worker(11, {.cpu = 0.2, .disk = 0.44}),
                          Worker(12, {.cpu = 0.2, .disk = 0.42})})),
            Verdict::kStorage);
  EXPECT_EQ(VerdictOf(Of({Main({.cpu = 0.56, .disk = 0.44})})), Verdict::kStorage);
}

TEST(DiagnoseProcesses, AServerIsToBlameForWorkersAndForTheFirstThread) {
  EXPECT_EQ(
      VerdictOf(Of({Main({.cpu = 0.1, .poll = 0.9}), Worker(11, {.cpu = 0.1, .network = 0.8})})),
      Verdict::kNetwork);
  EXPECT_EQ(VerdictOf(Of({Main({.cpu = 0.3, .network = 0.7})})), Verdict::kNetwork);
}

TEST(DiagnoseProcesses, ThreadsThatTogetherComputeOnOneCpuTakeTurns) {
  ProcessTimes main = Main({.cpu = 0.02, .lock = 0.98});
  main.others = {{.cpu = 0.25, .lock = 0.7},
                 {.cpu = 0.25, .lock = 0.7},
                 {.cpu = 0.25, .lock = 0.7},
                 {.cpu = 0.24, .lock = 0.7}};
  main.cpus = 1.01;
  ProcessProfile profile = Of({main});
  profile.python->working_threads = 4;
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kPython);
  EXPECT_THAT(diagnosis.prescriptions.at(0).text, HasSubstr("num_workers=4"));
}

TEST(DiagnoseProcesses, ThreadsThatTakeTurnsAreNoTooManyThreadsOnABusyMachine) {
  ProcessTimes main = Main({.cpu = 0.04, .queued = 0.2, .lock = 0.76});
  main.others.assign(4, {.cpu = 0.07, .queued = 0.7, .lock = 0.23});
  main.cpus = 0.32;
  ProcessProfile profile = Of({main}, /*cpus=*/2);
  profile.machine.other_runnable = 14;
  profile.python->working_threads = 4;
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kPython) << diagnosis.why;
  EXPECT_THAT(diagnosis.why, HasSubstr("take turns"));
  profile.python->decode_share = 0.9;  // such threads compute at the same time
  EXPECT_NE(VerdictOf(profile), Verdict::kPython);
  profile.python->decode_share = 0;
  profile.python->working_threads = 0;  // those of a library are counted by its setting
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
}

TEST(DiagnoseProcesses, OfPythonThatOnlyLoadedModulesIsUnknown) {
  ProcessProfile profile = Healthy();
  profile.python->parts[static_cast<size_t>(PythonPart::kImport)].share = 0.95;
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kUnknown);
  EXPECT_THAT(diagnosis.why, HasSubstr("--seconds"));
  profile.python->trains = true;
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
}

TEST(DiagnoseProcesses, AThreadOfALibraryThatTakesTurnsWithTheFirstWantsNoLockOfPython) {
  // Forward and backward pass of a PyTorch program on a GPU, recorded.
  ProcessTimes main = Main({.cpu = 0.73, .lock = 0.17, .other = 0.1});
  main.others = {{.cpu = 0.21, .lock = 0.79}};
  main.cpus = 0.96;
  EXPECT_NE(VerdictOf(Of({main})), Verdict::kPython);
}

TEST(DiagnoseProcesses, ThreadsThatComputeAtTheSameTimeTakeNoTurns) {
  ProcessTimes main = Main({.cpu = 0.9, .lock = 0.1});
  main.others = {{.cpu = 0.8, .lock = 0.2}, {.cpu = 0.8, .lock = 0.2}, {.cpu = 0.8, .lock = 0.2}};
  main.cpus = 3.3;
  EXPECT_EQ(VerdictOf(Of({main})), Verdict::kNone);
}

TEST(DiagnoseProcesses, ManyThreadsThatWaitForFewCpusAreTooMany) {
  ProcessTimes main = Main({.cpu = 0.3, .queued = 0.5, .lock = 0.2});
  for (int i = 0; i < 15; ++i) main.others.push_back({.cpu = 0.1, .queued = 0.15, .lock = 0.75});
  main.cpus = 1.8;
  const Diagnosis diagnosis = DiagnoseProcesses(Of({main}, 2));
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  EXPECT_EQ(diagnosis.prescriptions.at(0).text, "torch.set_num_threads(2)");
}

TEST(DiagnoseProcesses, APoolBesideABusyFirstThreadIsNotTooMany) {
  // A loop in Python and JAX's pool on two CPUs, recorded.
  ProcessTimes main = Main({.cpu = 0.77, .queued = 0.16, .other = 0.07});
  for (int i = 0; i < 15; ++i) main.others.push_back({.cpu = 0.066, .queued = 0.075, .lock = 0.86});
  main.cpus = 1.76;
  EXPECT_NE(VerdictOf(Of({main}, 2)), Verdict::kThreads);
}

TEST(DiagnoseProcesses, AFewThreadsThatWaitForACpuOnABusyMachineAreNotTooMany) {
  ProcessTimes main = Main({.cpu = 0.5, .queued = 0.5});
  main.others = {{.cpu = 0.5, .queued = 0.5}};
  main.cpus = 1;
  ProcessProfile profile = Of({main}, 2);
  profile.machine.other_runnable = 2;
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
  EXPECT_THAT(DiagnoseProcesses(profile).why, testing::StartsWith("other programs wanted 2.0"));
}

TEST(DiagnoseProcesses, AQuotaThatStopsItIsSaid) {
  ProcessProfile profile = Healthy();
  profile.machine.throttled_share = 0.8;
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  EXPECT_THAT(diagnosis.why, HasSubstr("quota"));
}

TEST(DiagnoseProcesses, MemoryThatIsShortComesBeforeTheDiskThatItKeepsBusy) {
  ProcessProfile profile = Of({Main({.cpu = 0.3, .disk = 0.7})});
  profile.machine.memory_pressure = 0.5;
  profile.machine.swapped_bytes_per_s = 5e7;
  EXPECT_EQ(VerdictOf(profile), Verdict::kMemory);
  profile.machine = {};
  EXPECT_EQ(VerdictOf(profile), Verdict::kStorage);
  profile.processes[0].major_faults_per_s = 5000;
  EXPECT_EQ(VerdictOf(profile), Verdict::kMemory);
}

TEST(DiagnoseProcesses, PagesThatAreTakenAnewAllTheTimeAreAMatterOfMemory) {
  ProcessProfile profile = Of({Main({.cpu = 1})});
  profile.processes[0].system_share = 0.6;
  EXPECT_NE(VerdictOf(profile), Verdict::kMemory);
  profile.processes[0].minor_faults_per_s = 100000;
  EXPECT_EQ(VerdictOf(profile), Verdict::kMemory);
  // Of huge pages there are few faults.
  profile.processes[0].minor_faults_per_s = 500;
  profile.machine.huge_page_bytes_per_s = 1e9;
  EXPECT_EQ(VerdictOf(profile), Verdict::kMemory);
}

TEST(DiagnoseProcesses, AProgramThatNeverUsesTheCpuIsUnknownAndSaysWhatItDoes) {
  const Diagnosis diagnosis = DiagnoseProcesses(Of({Main({.cpu = 0.001, .sleep = 0.999})}));
  EXPECT_EQ(diagnosis.verdict, Verdict::kUnknown);
  EXPECT_THAT(diagnosis.why, HasSubstr("sleeps 100% of the time"));
}

TEST(DiagnoseProcesses, AMapOfTfDataThatIsNotParallelIsToBlameWhereCpusHaveNothingToDo) {
  ProcessProfile profile = Of({Main({.cpu = 0.1, .lock = 0.9})});
  profile.framework = Framework::kTensorFlow;
  profile.cpus = 2;
  profile.processes[0].cpus = 1.2;
  const auto blames = [&profile] { return DiagnoseProcesses(profile).stage == "train.py:19"; };
  EXPECT_FALSE(blames());
  profile.loader.serial_map = "train.py:19";
  EXPECT_TRUE(blames());
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  EXPECT_THAT(diagnosis.prescriptions.at(0).text, HasSubstr("num_parallel_calls"));
  profile.processes[0].cpus = 1.9;
  EXPECT_FALSE(blames());
}

// What comes before the first step is no part of what a program that goes on will do.
TEST(DiagnoseProcesses, TheStartOfAProgramThatGoesOnIsLeftOutOfWhatIsLost) {
  ProcessProfile profile = Of({Main({.cpu = 0.9})});
  profile.python = PythonView{.samples = 1000, .trains = true, .startup_share = 0.2};
  profile.python->parts[static_cast<size_t>(PythonPart::kEvaluation)].share = 0.8;
  EXPECT_NEAR(DiagnoseProcesses(profile).lost_share, 0.8, 1e-9);
  profile.ended = true;
  EXPECT_NEAR(DiagnoseProcesses(profile).lost_share, 0.64, 1e-9);
}

TEST(DiagnoseProcesses, EachFrameworkGetsItsOwnWords) {
  ProcessProfile profile = Of({Main({.cpu = 0.4, .disk = 0.6})});
  profile.framework = Framework::kTensorFlow;
  EXPECT_THAT(DiagnoseProcesses(profile).prescriptions.at(0).text, HasSubstr("AUTOTUNE"));
  profile.framework = Framework::kUnknown;
  EXPECT_THAT(DiagnoseProcesses(profile).prescriptions.at(0).text, HasSubstr("4 processes"));
}

TEST(DiagnoseProcesses, FiguresThatMakeNoSenseGiveAReportInJson) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ProcessProfile profile = Of({Main({.cpu = nan, .disk = nan}), Worker(11, {.cpu = nan})});
  profile.machine.throttled_share = nan;
  profile.machine.memory_pressure = nan;
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_FALSE(diagnosis.ToJson().dump().empty());
  const Json json = profile.ToJson();
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["framework"], "pytorch");
  EXPECT_EQ(json["processes"][0]["role"], "main");
  EXPECT_TRUE(json["processes"][0]["first_thread"]["cpu"].is_null());
}

}  // namespace stoker::diagnose_processes_test
