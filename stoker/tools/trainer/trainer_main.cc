#include "stoker/tools/trainer/trainer_main.h"

#include <functional>

#include "stoker/base/log.h"
#include "stoker/base/problems.h"
#include "stoker/device/torch_error.h"
#include "stoker/tools/commands/compare_command.h"
#include "stoker/tools/commands/env_command.h"
#include "stoker/tools/commands/help_commands.h"
#include "stoker/tools/commands/inspect_command.h"
#include "stoker/tools/commands/pack_command.h"
#include "stoker/tools/commands/plot_command.h"
#include "stoker/tools/commands/verify_command.h"
#include "stoker/tools/commands/vocabulary_command.h"
#include "stoker/tools/foreign/foreign_doctor.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/process.h"
#include "stoker/tools/program/program.h"
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

void AddCommandsWithTorch(Program& program) {
  AddTrainCommand(program, Guarded(RunTrain));
  AddEvalCommand(program, Guarded(RunEval));
  AddPredictCommand(program, Guarded(RunPredict));
  AddCheckCommand(program, Guarded(RunRecipeCheck));
  AddLintCommand(program, Guarded(RunLint));
  AddExportCommand(program, Guarded(RunExport));
  AddScheduleCommand(program, Guarded(RunSchedule));
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
  Program program;
  AddCommandsWithTorch(program);
  AddPlotCommand(program);
  AddLrFindCommand(program, Guarded(RunLrFind));
  AddBatchFindCommand(program, Guarded(RunBatchFind));
  AddDoctorCommand(program, Guarded(RunTrainedDoctor), RunForeignDoctor);
  AddBenchCommand(program, RunBench, Guarded(RunModelBench));
  AddPackCommand(program, RunPack);
  AddVerifyCommand(program);
  AddInspectCommand(program, [](const InspectArguments& arguments) {
    if (!NeedsTrainer(arguments)) return RunInspect(arguments);
    return PrintInspection(
        arguments.models ? InspectModels(arguments.model) : InspectDirectory(arguments.file),
        arguments.json);
  });
  AddCompareCommand(program);
  AddEnvCommand(program);
  AddVocabularyCommand(program, RunVocabulary);
  AddHelpCommands(program, PrintCompletionWords);
  return program.Run(argc, argv);
}

}  // namespace stoker
