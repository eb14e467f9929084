// What the rules of the doctor say of the last seconds of a run.
#pragma once

#include <optional>
#include <string>

#include "stoker/doctor/run_profile.h"
#include "stoker/tools/top/top_history.h"
#include "stoker/tools/top/top_rates.h"

namespace stoker {

// Returns the profile of a window of a run, as if the planned run were that window alone: so the
// shares of its time are those of these seconds. Nothing is measured apart from the run, so
// input and step alone are unknown.
//   facts  of the run's recipe (tools/doctor/recipe_facts.h)
RunProfile ProfileOf(const RunWindow& window, const PublishedProgress& progress,
                     const RecipeFacts& facts);

// Returns the diagnosis of the last seconds. Nothing if no step ended in them.
std::optional<Diagnosis> VerdictOfRun(const TopHistory& history, const RecipeFacts& facts);

// Returns what to try: the run's own advice if it waits for its data, which knows the stage; else
// the first prescription. Empty: nothing.
std::string AdviceFor(const Diagnosis& verdict, const std::optional<Starvation>& starved);

// "storage: Training waits for ..."; "none: nothing that is seen is worth a change".
std::string VerdictText(const Diagnosis& verdict);

}  // namespace stoker
