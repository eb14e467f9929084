// What the GPU of a program does, and why it idles: from the counters of kernels, copies and waits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {
namespace {

// A loop that only logs now and then asks its device for a number less often.
constexpr double kOftenPerS = 5;
// A kernel takes some microseconds to launch, so that shorter ones leave the device idle.
constexpr double kShortKernel = 20e-6;
constexpr double kLeastShortIdle = 0.3;
// What launching many kernels at once wins back of that, and math in half the bits of its time.
constexpr double kGraphs = 0.8, kHalfBits = 0.6, kHalfBitsOfTf32 = 0.3;
constexpr double kLeastFloat32 = 0.3, kLeastBusyOfMath = 0.8;
constexpr double kLeastRelayout = 0.05;

double IdleShare(const CudaTimes& cuda) { return std::clamp(1 - cuda.busy, 0.0, 1.0); }

std::string Figures(const CudaTimes& cuda) {
  return fmt::format("the GPU is busy {} of the time, and the program waits for it {}",
                     Percent(cuda.busy), Percent(std::min(1.0, cuda.waits)));
}

void AddPageableCopies(const ProcessProfile& profile, std::vector<Finding>& findings) {
  const CudaTimes& cuda = *profile.cuda;
  const double lost = std::min(cuda.pageable, cuda.busy - cuda.computing);
  if (!(lost >= kLeastLoss)) return;
  const Blame blame = profile.python ? profile.python->copies : Blame();
  Finding finding{
      .verdict = Verdict::kCopy,
      .stage = blame.place,
      .lost = lost,
      .total = 1,
      .why = fmt::format("copies from ordinary memory to the GPU take {} of the time, "
                         "{:.1f} GB a second, and nothing is computed meanwhile{}",
                         Percent(cuda.pageable), 1e-9 * cuda.pageable_bytes_per_s, At(blame))};
  Prescribe(finding, WordsForPinned(profile.framework), 0.8,
            "pinned memory is copied several times as fast, and while kernels run");
  findings.push_back(std::move(finding));
}

// Work of the host and of the device that wait for each other: where nobody waited, a step would
// take as long as the longer of the two.
void AddWaits(const ProcessProfile& profile, std::vector<Finding>& findings) {
  const CudaTimes& cuda = *profile.cuda;
  if (cuda.small_to_host_per_s < kOftenPerS) return;
  // The copy of a number waits too, which its line alone shows, and other threads may wait without
  // harm: so stacks are believed where there are some.
  const double waits = profile.python ? profile.python->reads.share : std::min(1.0, cuda.waits);
  const double input = profile.python ? profile.python->of(PythonPart::kInput).share : 0;
  const double lost = std::min(IdleShare(cuda) - input, waits);
  if (!(lost >= kLeastLoss)) return;
  const Blame blame = profile.python ? profile.python->reads : Blame();
  Finding finding{.verdict = Verdict::kSynchronization,
                  .stage = blame.place,
                  .lost = lost,
                  .total = 1,
                  .why = fmt::format("{}: {:.0f} times a second it asks for a number, and the GPU "
                                     "has nothing to do until the next kernels come{}",
                                     Figures(cuda), cuda.small_to_host_per_s, At(blame))};
  Prescribe(finding, WordsForReads(profile.framework), 0.9,
            "the host then prepares the next kernels while those before run");
  findings.push_back(std::move(finding));
}

void AddShortKernels(const ProcessProfile& profile, std::vector<Finding>& findings) {
  const CudaTimes& cuda = *profile.cuda;
  const double idle = IdleShare(cuda);
  if (idle < kLeastShortIdle || cuda.waits >= idle || cuda.kernels_per_s <= 0) return;
  if (cuda.kernel_s > kShortKernel) return;
  // A program that waits for batches launches little because of that, so it must compute; the
  // backward pass has a thread of its own.
  const double computes =
      std::max(profile.main()->cpus, profile.main()->first.cpu + profile.main()->first.queued);
  if (computes < 1 - idle / 2) return;
  const double input = profile.python ? profile.python->of(PythonPart::kInput).share : 0;
  const double lost = idle - input;
  if (!(lost >= kLeastLoss)) return;
  Finding finding{.verdict = Verdict::kCompute,
                  .lost = lost,
                  .total = 1,
                  .why = fmt::format("{:.0f} kernels a second take {:.1f} us each, less than "
                                     "launching them: the GPU idles {} of the time",
                                     cuda.kernels_per_s, 1e6 * cuda.kernel_s, Percent(idle))};
  Prescribe(finding, WordsForShortKernels(profile.framework), kGraphs,
            "recorded kernels are launched at once");
  Prescribe(finding, "a larger batch", kGraphs, "each kernel then has more to do",
            "the batch size changes what is learned; adapt the learning rate to it");
  findings.push_back(std::move(finding));
}

void AddMath(const ProcessProfile& profile, std::vector<Finding>& findings) {
  const CudaTimes& cuda = *profile.cuda;
  if (cuda.busy < kLeastBusyOfMath) return;
  const double kernels = std::clamp(cuda.computing, 0.0, 1.0);
  const double float32 = cuda.float32_share + cuda.tf32_share;
  const HalfBits bits = HalfBitsOf(profile.gpu);
  if (float32 >= kLeastFloat32 && bits != HalfBits::kNone) {
    Finding finding{
        .verdict = Verdict::kCompute,
        .lost = (kHalfBits * cuda.float32_share + kHalfBitsOfTf32 * cuda.tf32_share) * kernels,
        .total = 1,
        .why = fmt::format("the GPU is busy {} of the time, {} of it with matrices and "
                           "convolutions in float32{}",
                           Percent(cuda.busy), Percent(float32),
                           cuda.tf32_share > cuda.float32_share ? " (TF32)" : "")};
    const bool float16 = bits == HalfBits::kFloat16;
    Prescribe(finding, WordsForHalfBits(profile.framework, bits), 1,
              float16 ? "its tensor cores multiply float16 several times as fast, but no bfloat16"
                      : "its tensor cores multiply bfloat16 several times as fast",
              float16 ? "products are rounded to 11 bits, and gradients that are not scaled may "
                        "vanish; weights stay in float32"
                      : "products are rounded to 8 bits; weights stay in float32");
    findings.push_back(std::move(finding));
  }
  if (cuda.relayout_share >= kLeastRelayout && profile.framework == Framework::kPyTorch) {
    Finding finding{.verdict = Verdict::kCompute,
                    .lost = cuda.relayout_share * kernels,
                    .total = 1,
                    .why = fmt::format("{} of the GPU's time goes into changes of the order of "
                                       "channels",
                                       Percent(cuda.relayout_share))};
    Prescribe(finding, "model.to(memory_format=torch.channels_last), and the same for its inputs",
              0.9, "convolutions in half the bits want the channels last");
    Prescribe(finding, "torch.backends.cudnn.benchmark = True, where shapes stay the same", 0.3,
              "cuDNN then takes the fastest convolution that it measures, with its own order of "
              "channels",
              "which one is the fastest may change from run to run, and with it the last bits");
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> FindOnAccelerator(const ProcessProfile& profile) {
  std::vector<Finding> findings;
  if (!profile.cuda || profile.main() == nullptr || profile.cuda->kernels_per_s <= 0)
    return findings;
  AddPageableCopies(profile, findings);
  AddWaits(profile, findings);
  AddShortKernels(profile, findings);
  AddMath(profile, findings);
  return findings;
}

double MostLostBesideAccelerator(const ProcessProfile& profile) {
  if (!profile.cuda || !(profile.cuda->kernels_per_s > 0)) return 1;
  // Few windows may all have missed what takes a block of time.
  constexpr double kDeviations = 2;
  const double idle = IdleShare(*profile.cuda);
  const auto windows = static_cast<double>(std::max<int64_t>(1, profile.cuda->windows));
  return std::min(1.0, idle + kDeviations * std::sqrt(idle * (1 - idle) / windows));
}

}  // namespace stoker
