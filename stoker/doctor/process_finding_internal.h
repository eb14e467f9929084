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

// More threads than CPUs, a quota of the control group, too little memory.
std::optional<Finding> FindInThreads(const ProcessProfile& profile);
std::optional<Finding> FindInQuota(const ProcessProfile& profile);
std::optional<Finding> FindInMemory(const ProcessProfile& profile);

// Programs that hardly do anything.
std::optional<Finding> FindIdle(const ProcessProfile& profile);

// Adds a change that would win back `part` of what the finding lost.
void Prescribe(Finding& finding, std::string text, double part, std::string why,
               std::string caution = {});

// Changes in the words of the framework.
std::string WordsForWorkers(Framework framework, int64_t workers);
std::string WordsForThreads(Framework framework, int64_t threads);

// "63%"
std::string Percent(double share);

}  // namespace stoker
