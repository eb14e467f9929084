// The doctor: measures, asks the rules (doctor/diagnose.h), reports, and with --fix tries. What
// needs libtorch is passed in, so that recipes without a model are measured without it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/doctor/diagnosis.h"
#include "stoker/doctor/run_profile.h"
#include "stoker/run/observer.h"
#include "stoker/tools/commands/doctor_command.h"
#include "stoker/tools/doctor/stop_timer.h"

namespace stoker {

// A recipe as read, with the folder to which its paths are relative.
struct DoctorRecipe {
  ConfigNode root;
  std::filesystem::path folder;
};

// What is done with a model. Empty functions: this program has none.
struct DoctorParts {
  // Reads the whole recipe. Errors: what is wrong with it.
  std::function<Status(const DoctorRecipe& recipe)> check = {};
  // Trains for about `seconds` after the first step, in a temporary run directory. Writes what was
  // measured into `out`, also if the training fails, whose error it returns.
  //   observer  of the training; may be null
  std::function<Status(const DoctorRecipe& recipe, double seconds, StopTimer& timer,
                       TrainObserver* observer, RunProfile& out)>
      train = {};
  // Measures the step alone. Call it after `train`, whose choices it uses.
  std::function<Result<StepProfile>(const DoctorRecipe& recipe, double seconds, StopTimer& timer)>
      step = {};
};

// `stoker doctor`. Errors: those of the recipe; that of its data or its training, after the report
// of what was measured before; kCancelled after a signal, likewise.
Status RunDoctor(const DoctorArguments& arguments, const DoctorParts& parts);

// Reads `file` as a recipe whose paths start in `folder`, with its plug-ins.
Result<DoctorRecipe> ReadDoctorRecipe(const std::filesystem::path& file,
                                      const std::filesystem::path& folder,
                                      const std::vector<std::string>& set);

// Returns the report as text.
std::string DoctorText(const RunProfile& profile, const Diagnosis& diagnosis);

}  // namespace stoker
