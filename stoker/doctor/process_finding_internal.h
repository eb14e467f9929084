// What the rules of DiagnoseProcesses find. A rule is a function from a profile to a Finding, whose
// `lost` and `total` are shares of the time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/finding_internal.h"
#include "stoker/doctor/process_profile.h"

namespace stoker {

// Of waits of the main process's first thread: for disks, workers, other threads.
std::optional<Finding> FindInWaits(const ProcessProfile& profile);

// Of stacks: start-up, evaluations, checkpoints, logging, small batches, an input without workers.
std::vector<Finding> FindInStacks(const ProcessProfile& profile);

// Whether several threads of the process, beside its first, run lines of the program: Python lets
// one of them compute at a time, and no setting of a framework says how many there are.
bool HasThreadsOfItsOwn(const ProcessProfile& profile);

// More threads than CPUs, a quota of the control group, too little memory.
std::optional<Finding> FindInThreads(const ProcessProfile& profile);
std::optional<Finding> FindInQuota(const ProcessProfile& profile);
std::optional<Finding> FindInMemory(const ProcessProfile& profile);

// On the program's GPU, where its kernels were counted: copies from pageable memory, a host and a
// device that wait for each other, kernels that are too short, math in more bits than it needs.
std::vector<Finding> FindOnAccelerator(const ProcessProfile& profile);

// The share of the time in which the GPU has nothing to do: more cannot be lost by what the host
// does. 1 where nothing was counted.
double MostLostBesideAccelerator(const ProcessProfile& profile);

// Programs that hardly do anything.
std::optional<Finding> FindIdle(const ProcessProfile& profile);

// Adds a change that would win back `part` of what the finding lost.
void Prescribe(Finding& finding, std::string text, double part, std::string why,
               std::string caution = {});

// The share of a run that its steps take, with what happens between them. One that was seen to end
// has its start in it; one that goes on starts once, and then the start is none of what remains.
double ShareOfSteps(const ProcessProfile& profile);

// Changes in the words of the framework.
std::string WordsForWorkers(Framework framework, int64_t workers);
std::string WordsForThreads(Framework framework, int64_t threads);
std::string WordsForPinned(Framework framework);        // copies from pinned memory, ahead
std::string WordsForReads(Framework framework);         // numbers of the device read rarely
std::string WordsForShortKernels(Framework framework);  // kernels launched together
std::string WordsForOneShape(Framework framework);      // so that nothing is compiled again

// The format of half the bits that the tensor cores of a GPU multiply several times as fast as
// float32, by its compute capability (CUDA's programming guide, "Compute Capabilities"): float16
// from 7.0 (Volta) on, bfloat16 from 8.0 (Ampere) on, and none before.
enum class HalfBits { kNone, kFloat16, kBfloat16, kUnknown };
HalfBits HalfBitsOf(const std::optional<GpuTimes>& gpu);
std::string WordsForHalfBits(Framework framework, HalfBits bits);  // REQUIRES: not kNone

// Returns a few lines of Python that feed the same training by Stoker; empty where that would not
// help, or where too little is known of the program.
std::string SnippetFor(const ProcessProfile& profile, Verdict verdict);

// Returns the line that is to blame, to follow a sentence: " (train.py:23: `x = x.cuda()`)"; empty
// if none is.
std::string At(const Blame& blame);

// "63%"
std::string Percent(double share);

}  // namespace stoker
