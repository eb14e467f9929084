// `stoker doctor --fix`: tries prescriptions, and writes those that help into a copy of the recipe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/doctor/comparison.h"
#include "stoker/doctor/diagnosis.h"
#include "stoker/tools/commands/doctor_command.h"

namespace stoker {

struct TriedChange {
  Prescription prescription;
  Gain gain;  // measured
  bool kept = false;
  std::string not_kept = {};  // the reason
};

struct Fixed {
  std::vector<TriedChange> tried;
  std::string file;  // the improved recipe; empty: nothing helped
  std::string diff;  // from the recipe to it

  Json ToJson() const;
  std::string ToText() const;
};

// Returns "recipe.fixed.yaml" for "recipe.yaml".
std::string FixedName(const std::string& recipe);

// Errors: kFailedPrecondition if there is such a file already.
Status CheckFixedRecipe(const std::string& recipe);

// Tries each prescription that is a change of the recipe, the first first, on top of those kept so
// far. Each round measures the recipe without the change and then with it, in processes of their
// own: what one of them fills (caches, memory, threads) cannot help the other. Leaves out changes
// with a caution unless the arguments allow them. Errors: those of the processes; kCancelled after
// a signal.
Result<Fixed> Fix(const DoctorArguments& arguments, const Diagnosis& diagnosis);

}  // namespace stoker
