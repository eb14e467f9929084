// What is said of input pipelines.
#include <gmock/gmock.h>

#include "stoker/doctor/diagnose_testing_internal.h"

namespace stoker::input_findings_test {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(Diagnose, WaitingForAStageIsNamedByItsWork) {
  RunProfile profile = Starved();
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kDecode);
  EXPECT_EQ(diagnosis.stage, "decode");
  EXPECT_NEAR(diagnosis.lost_share, 0.79, 0.03);
  EXPECT_NEAR(diagnosis.roof, 4.8, 0.3);
  profile.input->limiting_stage = "color_jitter";
  profile.input->limiting_work = StageWork::kChanges;
  EXPECT_EQ(VerdictOf(profile), Verdict::kAugmentation);
}

TEST(Diagnose, ASourceThatWaitsIsStorageOrNetworkAndOneThatComputesDecodes) {
  RunProfile profile = Starved();
  profile.input->limiting_stage = "folder";
  profile.input->limiting_work = StageWork::kReads;
  profile.input->cpu_s = 1;
  EXPECT_EQ(VerdictOf(profile), Verdict::kStorage);
  profile.input->on_servers = true;
  EXPECT_EQ(VerdictOf(profile), Verdict::kNetwork);
  profile.input->on_servers = false;
  profile.input->cpu_s = 18;
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
}

TEST(Diagnose, WhatStokerEnvMeasuredIsNamedBesideWhatTheRunGets) {
  RunProfile profile = Starved();
  profile.input->limiting_stage = "folder";
  profile.input->limiting_work = StageWork::kReads;
  profile.input->cpu_s = 1;
  profile.input->stages[0].bytes = int64_t{100'000'000};  // in 5 s
  EXPECT_THAT(Diagnose(profile).why, Not(HasSubstr("stoker env")));
  profile.machine.roofs = MachineRoofs{.read_bytes_per_s = 500e6, .pictures_per_s = 700};
  EXPECT_THAT(Diagnose(profile).why,
              HasSubstr("; 20 MB/s are read of the 500 that `stoker env` measured there"));
  profile.machine.roofs->read_bytes_per_s = 22e6;
  EXPECT_THAT(Diagnose(profile).why, HasSubstr("20 MB/s are read, and `stoker env` measured 22"));
  EXPECT_THAT(Diagnose(Starved()).why, Not(HasSubstr("JPEGs")));
  RunProfile decoding = Starved();
  decoding.machine.roofs = profile.machine.roofs;
  EXPECT_THAT(Diagnose(decoding).why, HasSubstr("all CPUs decode 700 JPEGs of 500 x 375 a second"));
}

TEST(Diagnose, FilesOfAFewBytesThatKeepCpusBusyAreSmallRecords) {
  RunProfile profile = Starved();
  profile.input->limiting_stage = "folder";
  profile.input->limiting_work = StageWork::kReads;
  profile.input->many_files = true;
  profile.input->stages[0].bytes = int64_t{160000} * 500;
  EXPECT_EQ(VerdictOf(profile), Verdict::kSmallRecords);
}

TEST(Diagnose, ThreadsAreToBlameOnlyIfATrialWithOthersIsFaster) {
  RunProfile profile = Starved();
  profile.trials = {InputTrial(kFeed, 1.1)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
  profile.trials = {InputTrial(kFeed, 3.5)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
  profile.trials = {InputTrial(kPrefetch, 2)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
  EXPECT_EQ(Diagnose(profile).stage, "");
}

TEST(Diagnose, TheMemoryBudgetIsToBlameIfMoreOfItHelpsMoreThanThreads) {
  RunProfile profile = Starved();
  profile.trials = {InputTrial(kFeed, 1.5), InputTrial(kMemory, 4)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kMemory);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(2));
  EXPECT_EQ(diagnosis.prescriptions[0].change, kMemory);
  profile.trials = {InputTrial(kFeed, 4), InputTrial(kMemory, 1.5)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
}

TEST(Diagnose, ALockIsSeenInTheStatesOfThreads) {
  RunProfile profile = Starved();
  profile.input->lock_share = 0.5;
  EXPECT_EQ(VerdictOf(profile), Verdict::kLock);
  EXPECT_EQ(Diagnose(profile).stage, "decode");
  profile.trials = {InputTrial(kFeed, 2)};  // more threads would only wait longer
  EXPECT_EQ(VerdictOf(profile), Verdict::kLock);
}

TEST(Diagnose, AFewSlowElementsAreSeenInTheSlowestBatches) {
  RunProfile profile = Starved();
  profile.input->slowest_share = 0.7;
  EXPECT_EQ(VerdictOf(profile), Verdict::kSlowElement);
  profile.input->threads = 16;  // which bring their batches in bursts
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
  profile.input->threads = 2;
  profile.input->batches = 5;  // too few to tell
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
}

TEST(Diagnose, AWaitThatNoStageExplainsIsUnknown) {
  RunProfile profile = Starved();
  profile.input->idle = true;
  EXPECT_EQ(VerdictOf(profile), Verdict::kUnknown);
  EXPECT_EQ(Diagnose(profile).stage, "");
  profile.input.reset();
  EXPECT_EQ(VerdictOf(profile), Verdict::kUnknown);
}

TEST(Diagnose, OfARunThatWasOnlyWatchedNoRateOfItsPartsIsNamed) {
  RunProfile profile = Starved();
  profile.input->samples_per_s = 0;
  profile.input->batches = 0;
  profile.step.reset();
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kDecode);
  EXPECT_THAT(diagnosis.why, HasSubstr("steps wait for data in 7"));
  EXPECT_THAT(diagnosis.why, HasSubstr("% of the time; `decode`: 4 threads spent"));
  EXPECT_THAT(diagnosis.why, Not(HasSubstr("alone")));
}

TEST(Diagnose, ACacheIsPrescribedWithTheStageThatItFollowsAndItsGain) {
  RunProfile profile = Starved();
  profile.facts.cache_after = 0;
  profile.trials = {InputTrial(kCache, 100)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kDecode);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  const Prescription& cache = diagnosis.prescriptions[0];
  EXPECT_EQ(cache.text, "data.train: `cache` after stage 1 (folder)");
  EXPECT_GT(cache.gain_low, 3);
  EXPECT_LE(cache.gain_low, cache.gain_high);
  EXPECT_LE(cache.gain_high, diagnosis.roof * 1.001);
  EXPECT_EQ(cache.caution, "");
}

TEST(Diagnose, WithoutAChangeOfTheRecipeThereIsAdvice) {
  const Diagnosis diagnosis = Diagnose(Starved());
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_FALSE(diagnosis.prescriptions[0].change.has_value());
  EXPECT_THAT(diagnosis.prescriptions[0].text, HasSubstr("stoker pack"));
}

}  // namespace stoker::input_findings_test
