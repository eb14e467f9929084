#include "stoker/tools/trainer/trainer_main.h"

#include <functional>

#include "stoker/base/log.h"
#include "stoker/base/problems.h"
#include "stoker/device/torch_error.h"
#include "stoker/tools/commands/all_commands.h"
#include "stoker/tools/foreign/foreign_doctor.h"
#include "stoker/tools/launch/launch.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/process.h"
#include "stoker/tools/program/program.h"
#include "stoker/tools/scale/scale.h"
#include "stoker/tools/top/top.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/loop/allocator.h"

namespace stoker {
namespace {

// The command without what torch throws: memory that it lacks is an error like others.
template <typename Arguments>
std::function<Status(const Arguments&)> Guarded(Status (*run)(const Arguments&)) {
  return [run](const Arguments& arguments) {
    try {
      return run(arguments);
    } catch (const std::exception& error) {
      Status meant = StatusOfException(error);
      if (meant.code() == StatusCode::kResourceExhausted) return meant;
      if (!meant.message().starts_with("torch: ")) throw;  // Program explains these
      return Internal("{}; this is a defect of Stoker, please report it", meant.message());
    }
  };
}

// Reports what is wrong with the kinds that the program adds.
int Refused(const Status& kinds) {
  for (const std::string& problem : ProblemsIn(kinds)) Log(LogLevel::kError, problem);
  return ExitCodeOf(kinds);
}

CommandActions ActionsWithTorch() {
  CommandActions actions;
  actions.train = Guarded(RunTrain);
  actions.eval = Guarded(RunEval);
  actions.predict = Guarded(RunPredict);
  actions.check = Guarded(RunRecipeCheck);
  actions.lint = Guarded(RunLint);
  actions.export_weights = Guarded(RunExport);
  actions.schedule = Guarded(RunSchedule);
  actions.lr_find = Guarded(RunLrFind);
  actions.batch_find = Guarded(RunBatchFind);
  actions.doctor = Guarded(RunTrainedDoctor);
  actions.foreign_doctor = RunForeignDoctor;
  actions.launch = RunLaunch;
  actions.scale = RunScale;
  actions.top = RunTop;
  actions.bench_model = Guarded(RunModelBench);
  actions.env_exchange = Guarded(RunExchangeProbe);
  actions.inspect = [](const InspectArguments& arguments) {
    if (!NeedsTrainer(arguments)) return RunInspect(arguments);
    return PrintInspection(
        arguments.models ? InspectModels(arguments.model) : InspectDirectory(arguments.file),
        arguments.json);
  };
  actions.completion_words = PrintCompletionWords;
  return actions;
}

}  // namespace

int TrainerMain(int argc, char** argv, void (*add_kinds)(Kinds& kinds)) {
  PrepareProcess();
  KeepLargeBlocksMapped();
  if (add_kinds != nullptr) {
    Kinds kinds;
    add_kinds(kinds);
    if (!kinds.status().ok()) return Refused(kinds.status());
  }
  return RunProgram(argc, argv, [](Program& program) { AddCommands(program, ActionsWithTorch()); });
}

}  // namespace stoker
