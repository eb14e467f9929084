// What the GPU shows of short kernels and of copies is from recordings on an NVIDIA H200.
#include <limits>

#include "stoker/base/testing.h"
#include "stoker/doctor/diagnose_processes.h"

namespace stoker::accelerator_findings_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Of a program whose first thread computes or launches kernels all the time.
ProcessProfile Of(const CudaTimes& cuda, const ThreadTimes& first = {.cpu = 0.98, .poll = 0.02}) {
  ProcessProfile profile{.host = "here",
                         .cpus = 16,
                         .command = "python3 train.py",
                         .seconds = 20,
                         .framework = Framework::kPyTorch};
  profile.processes.push_back({.pid = 10,
                               .role = ProcessRole::kMain,
                               .command = "python3 train.py",
                               .seconds = 20,
                               .first = first,
                               .others = {},
                               .threads = 1,
                               .cpus = first.cpu});
  profile.cuda = cuda;
  return profile;
}
Verdict VerdictOf(const ProcessProfile& profile) { return DiagnoseProcesses(profile).verdict; }

// Reads its loss now and then, in half the bits, and keeps the GPU busy.
CudaTimes Healthy() {
  return {.windows = 8,
          .seconds = 2.4,
          .busy = 0.98,
          .computing = 0.97,
          .waits = 0.6,
          .kernels_per_s = 9000,
          .kernel_s = 108e-6,
          .float32_share = 0.02,
          .relayout_share = 0,
          .pageable = 0.001,
          .pageable_bytes_per_s = 1e6,
          .pinned = 0.05,
          .pinned_bytes_per_s = 2e9,
          .to_host = 0.0001,
          .small_to_host_per_s = 2};
}

TEST(AcceleratorFindings, OfABusyGpuAreNone) {
  const Diagnosis diagnosis = DiagnoseProcesses(Of(Healthy()));
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone) << diagnosis.why;
  EXPECT_THAT(diagnosis.prescriptions, IsEmpty());
}

TEST(AcceleratorFindings, NameCopiesFromPageableMemoryAndTheirLine) {
  CudaTimes cuda = Healthy();
  cuda.busy = 0.68;
  cuda.computing = 0.067;
  cuda.kernels_per_s = 967;
  cuda.kernel_s = 69e-6;
  cuda.pageable = 0.61;
  cuda.pageable_bytes_per_s = 5e9;
  ProcessProfile profile = Of(cuda);
  profile.python.emplace();
  profile.python->samples = 500;
  profile.python->copies = {.place = "train.py:23", .function = "main", .text = "x = x.to(device)"};
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kCopy);
  EXPECT_EQ(diagnosis.stage, "train.py:23");
  EXPECT_NEAR(diagnosis.lost_share, 0.61, 1e-9);
  // While other kernels run nothing is lost.
  profile.cuda->computing = 0.66;
  EXPECT_NE(VerdictOf(profile), Verdict::kCopy);
  ASSERT_FALSE(diagnosis.prescriptions.empty());
  EXPECT_THAT(diagnosis.prescriptions.front().text, HasSubstr("pin_memory=True"));
  EXPECT_THAT(diagnosis.prescriptions.front().text, HasSubstr("non_blocking=True"));
}

TEST(AcceleratorFindings, OfCopiesFromPinnedMemoryAreNone) {
  CudaTimes cuda = Healthy();
  cuda.pinned = 0.4;
  cuda.pinned_bytes_per_s = 20e9;
  EXPECT_EQ(VerdictOf(Of(cuda)), Verdict::kNone);
}

TEST(AcceleratorFindings, OfAHostAndAGpuThatWaitForEachOtherLoseTheShorterWait) {
  CudaTimes cuda = Healthy();
  cuda.busy = 0.55;
  cuda.computing = 0.55;
  cuda.waits = 0.3;
  cuda.small_to_host_per_s = 4000;
  const Diagnosis diagnosis = DiagnoseProcesses(Of(cuda));
  EXPECT_EQ(diagnosis.verdict, Verdict::kSynchronization);
  EXPECT_NEAR(diagnosis.lost_share, 0.3, 1e-9);
  ASSERT_FALSE(diagnosis.prescriptions.empty());
  EXPECT_THAT(diagnosis.prescriptions.front().text, HasSubstr(".item()"));
  // Where its stacks are known, they say how much of the time it waits, and that it has no batch.
  ProcessProfile profile = Of(cuda);
  profile.python.emplace();
  EXPECT_NE(VerdictOf(profile), Verdict::kSynchronization);
  profile.python->reads = {
      .place = "train.py:40", .function = "main", .text = "loss.item()", .share = 0.4};
  EXPECT_EQ(VerdictOf(profile), Verdict::kSynchronization);
  EXPECT_EQ(DiagnoseProcesses(profile).stage, "train.py:40");
  profile.python->parts[static_cast<size_t>(PythonPart::kInput)].share = 0.4;
  EXPECT_NE(VerdictOf(profile), Verdict::kSynchronization);
  cuda.small_to_host_per_s = 1;  // it waits for something else
  EXPECT_NE(VerdictOf(Of(cuda)), Verdict::kSynchronization);
}

TEST(AcceleratorFindings, OfKernelsThatAreShorterThanTheirLaunch) {
  CudaTimes cuda = Healthy();
  cuda.busy = cuda.computing = 0.072;
  cuda.waits = 0;
  cuda.kernels_per_s = 27758;
  cuda.kernel_s = 2.6e-6;
  ProcessProfile profile = Of(cuda, {.cpu = 0.58, .lock = 0.36, .other = 0.06});
  profile.processes[0].cpus = 0.97;  // with the thread of the backward pass
  const Diagnosis diagnosis = DiagnoseProcesses(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kCompute);
  EXPECT_THAT(diagnosis.why, HasSubstr("kernels a second"));
  ASSERT_FALSE(diagnosis.prescriptions.empty());
  EXPECT_THAT(diagnosis.prescriptions.front().text, HasSubstr("reduce-overhead"));
  // The same where the first thread waits for batches is no matter of kernels.
  EXPECT_NE(VerdictOf(Of(cuda, {.cpu = 0.3, .poll = 0.7})), Verdict::kCompute);
}

TEST(AcceleratorFindings, OfMathInFloat32SayThatHalfTheBitsChangeTheResults) {
  CudaTimes cuda = Healthy();
  cuda.float32_share = 0.9;
  const Diagnosis diagnosis = DiagnoseProcesses(Of(cuda));
  EXPECT_EQ(diagnosis.verdict, Verdict::kCompute);
  ASSERT_FALSE(diagnosis.prescriptions.empty());
  EXPECT_THAT(diagnosis.prescriptions.front().text, HasSubstr("bfloat16"));
  EXPECT_FALSE(diagnosis.prescriptions.front().caution.empty());
}

TEST(AcceleratorFindings, OfMathInFloat32NameWhatTheTensorCoresOfTheGpuHave) {
  CudaTimes cuda = Healthy();
  cuda.float32_share = 0.9;
  ProcessProfile profile = Of(cuda);
  const auto change_on = [&](int major, int minor) {
    profile.gpu = GpuTimes{.name = "GPU", .compute_major = major, .compute_minor = minor};
    const Diagnosis diagnosis = DiagnoseProcesses(profile);
    return diagnosis.prescriptions.empty() ? "none" : diagnosis.prescriptions.front().text;
  };
  EXPECT_THAT(change_on(0, 0), HasSubstr("before Ampere"));
  EXPECT_EQ(change_on(9, 0), "torch.autocast('cuda', torch.bfloat16) around the forward pass");
  EXPECT_EQ(change_on(12, 0), change_on(8, 6));
  EXPECT_THAT(change_on(7, 5), HasSubstr("torch.float16"));
  EXPECT_THAT(change_on(7, 0), HasSubstr("GradScaler"));
  EXPECT_EQ(change_on(6, 1), "none");
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);  // Pascal has no tensor cores
  for (const Framework framework : {Framework::kTensorFlow, Framework::kJax, Framework::kUnknown}) {
    profile.framework = framework;
    EXPECT_THAT(change_on(7, 0), HasSubstr("float16"));
    EXPECT_THAT(change_on(7, 0), Not(HasSubstr("bfloat16")));
    EXPECT_THAT(change_on(8, 0), HasSubstr("bfloat16"));
  }
}

TEST(AcceleratorFindings, OfChangesOfTheOrderOfChannelsNameTheOrderAndThenCudnnsMeasuring) {
  CudaTimes cuda = Healthy();
  cuda.relayout_share = 0.2;
  const Diagnosis diagnosis = DiagnoseProcesses(Of(cuda));
  EXPECT_EQ(diagnosis.verdict, Verdict::kCompute);
  ASSERT_EQ(diagnosis.prescriptions.size(), 2u);
  EXPECT_THAT(diagnosis.prescriptions[0].text, HasSubstr("channels_last"));
  EXPECT_THAT(diagnosis.prescriptions[1].text, HasSubstr("cudnn.benchmark = True"));
  EXPECT_THAT(diagnosis.prescriptions[1].caution, HasSubstr("last bits"));
  ProcessProfile other = Of(cuda);
  other.framework = Framework::kJax;
  EXPECT_THAT(DiagnoseProcesses(other).prescriptions, IsEmpty());
}

TEST(AcceleratorFindings, FewWindowsDoNotProveThatNothingIsLost) {
  CudaTimes cuda = Healthy();
  cuda.busy = cuda.computing = 0.85;
  const ThreadTimes starved = {.cpu = 0.3, .disk = 0.7};
  cuda.windows = 4;
  EXPECT_NEAR(DiagnoseProcesses(Of(cuda, starved)).lost_share, 0.15 + 2 * 0.1785, 1e-3);
  cuda.windows = 10000;
  EXPECT_NEAR(DiagnoseProcesses(Of(cuda, starved)).lost_share, 0.15, 0.01);
}

TEST(AcceleratorFindings, AHostThatWaitsWhileTheGpuIsBusyLosesNothing) {
  EXPECT_EQ(VerdictOf(Of(Healthy(), {.cpu = 0.05, .poll = 0.95})), Verdict::kNone);
  EXPECT_EQ(VerdictOf(Of(Healthy(), {.cpu = 0.01, .other = 0.99})), Verdict::kNone);
}

TEST(AcceleratorFindings, OfFiguresThatAreNoneDoNoHarm) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinite, -infinite, -1.0, 1e300}) {
    const Diagnosis diagnosis = DiagnoseProcesses(Of({.busy = bad,
                                                      .waits = bad,
                                                      .kernels_per_s = bad,
                                                      .kernel_s = bad,
                                                      .float32_share = bad,
                                                      .relayout_share = bad,
                                                      .pageable = bad,
                                                      .pageable_bytes_per_s = bad,
                                                      .pinned = bad,
                                                      .pinned_bytes_per_s = bad,
                                                      .to_host = bad,
                                                      .small_to_host_per_s = bad}));
    EXPECT_GE(diagnosis.lost_share, 0);
    EXPECT_LE(diagnosis.lost_share, 1);
    EXPECT_GE(diagnosis.roof, 1);
  }
}

}  // namespace stoker::accelerator_findings_test
