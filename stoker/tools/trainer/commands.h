// What the commands do that need libtorch. Each prints its result, or returns why there is none.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/commands/batch_find_command.h"
#include "stoker/tools/commands/bench_command.h"
#include "stoker/tools/commands/check_command.h"
#include "stoker/tools/commands/doctor_command.h"
#include "stoker/tools/commands/env_command.h"
#include "stoker/tools/commands/eval_command.h"
#include "stoker/tools/commands/export_command.h"
#include "stoker/tools/commands/inspect_command.h"
#include "stoker/tools/commands/lint_command.h"
#include "stoker/tools/commands/lr_find_command.h"
#include "stoker/tools/commands/predict_command.h"
#include "stoker/tools/commands/schedule_command.h"
#include "stoker/tools/commands/train_command.h"

namespace stoker {

// kCancelled if a signal stopped it (interrupt.h), after it wrote the last checkpoint.
Status RunTrain(const TrainArguments& arguments);
Status RunEval(const EvalArguments& arguments);
Status RunPredict(const PredictArguments& arguments);
Status RunLint(const LintArguments& arguments);
// `stoker check`, with all checks.
Status RunRecipeCheck(const CheckArguments& arguments);
Status RunExport(const ExportArguments& arguments);
Status RunSchedule(const ScheduleArguments& arguments);
Status RunLrFind(const LrFindArguments& arguments);
Status RunBatchFind(const BatchFindArguments& arguments);
// `stoker doctor`, with models.
Status RunTrainedDoctor(const DoctorArguments& arguments);
// `stoker bench --model`.
Status RunModelBench(const BenchArguments& arguments);
// As one of the processes that RunEnv has started.
Status RunExchangeProbe(const EnvArguments& arguments);

// `stoker completion WHAT`. keys: those of `data` and `train`, and `model`; models: their names;
// kinds: the names that InspectModels accepts.
Status PrintCompletionWords(const std::string& what);

// Describe runs and checkpoints (verifying every file), and models, optimizers and schedules.
Result<Inspection> InspectDirectory(const std::string& path);
Result<Inspection> InspectModels(const std::string& name);
std::vector<std::string> NamesOfKinds();

}  // namespace stoker
