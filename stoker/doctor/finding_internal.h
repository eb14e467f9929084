// What the rules of Diagnose find, one for each part of a run that loses time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/diagnosis.h"
#include "stoker/doctor/planned_times.h"
#include "stoker/doctor/run_profile.h"

namespace stoker {

// A loss below this share of the time is none.
inline constexpr double kLeastLoss = 0.1;
// A prescription below this gain is none.
inline constexpr double kLeastPrescribed = 1.05;
// A trial that is less than this many times as fast as before proves no cause.
inline constexpr double kProves = 1.3;

struct Finding {
  Verdict verdict = Verdict::kUnknown;
  std::string stage = {};
  double lost = 0;   // seconds of the planned run, or of the measured pipeline without a model
  double total = 0;  // seconds from which they are lost
  std::string why = {};
  std::vector<Prescription> prescriptions = {};

  double share() const { return total > 0 ? lost / total : 0; }
};

// Of the input pipeline. Nothing if steps hardly wait for it, or, without a model, if no trial has
// shown a cause.
std::optional<Finding> FindInInput(const RunProfile& profile);

// Of the computation of steps: threads, batches that are too small, copies.
std::optional<Finding> FindInStep(const RunProfile& profile);

// Of what is due beside steps: evaluations, checkpoints, logging, callbacks, start-up.
std::vector<Finding> FindBesideSteps(const RunProfile& profile);

// Returns how many times as fast the part was with the change; 1 if it was not measured.
double RatioOf(const Trial& trial);

// Returns a range for a predicted gain whose excess over 1 may be off by a quarter.
Prescription Predicted(std::optional<RecipeChange> change, std::string text, double gain,
                       std::string why);

}  // namespace stoker
