// The rules of the doctor: from what was measured to what to change. No rule reads a clock, a file
// or a recipe; the same profile always gives the same diagnosis.
//
// A rule is a function from a RunProfile to a Finding (finding_internal.h). A new one stands in the
// file of its part of the run: input_findings.cc, step_findings.cc or due_findings.cc.
#pragma once

#include <vector>

#include "stoker/doctor/diagnosis.h"
#include "stoker/doctor/run_profile.h"

namespace stoker {

// A change that is worth a trial, and the part of the run that shows whether it helps.
struct TrialPlan {
  RecipeChange change;
  TrialPart part = TrialPart::kInput;

  bool operator==(const TrialPlan&) const = default;
};

// Returns the trials that Diagnose can use, the most promising first: of the input if steps wait
// for it or there are none, of the step otherwise. `profile` has no trials yet.
std::vector<TrialPlan> TrialsFor(const RunProfile& profile);

// Returns the diagnosis. A loss of less than a tenth of the time is none, and no change is
// prescribed that is predicted to gain less than a twentieth.
Diagnosis Diagnose(const RunProfile& profile);

}  // namespace stoker
