// `stoker-train`: the commands that need libtorch. People start it through `stoker`.
#include <functional>

#include "stoker/device/torch_error.h"
#include "stoker/tools/commands/help_commands.h"
#include "stoker/tools/commands/inspect_command.h"
#include "stoker/tools/program/process.h"
#include "stoker/tools/program/program.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/loop/allocator.h"

namespace {

// The command without what torch throws: memory that it lacks is an error like others.
template <typename Arguments>
std::function<stoker::Status(const Arguments&)> Guarded(stoker::Status (*run)(const Arguments&)) {
  return [run](const Arguments& arguments) {
    try {
      return run(arguments);
    } catch (const std::exception& error) {
      stoker::Status meant = stoker::StatusOfException(error);
      if (meant.code() == stoker::StatusCode::kResourceExhausted) return meant;
      if (!meant.message().starts_with("torch: ")) throw;  // Program explains these
      return stoker::Internal("{}; this is a defect of Stoker, please report it", meant.message());
    }
  };
}

}  // namespace

int main(int argc, char** argv) {
  using namespace stoker;
  PrepareProcess();
  KeepLargeBlocksMapped();
  Program program;
  AddTrainCommand(program, Guarded(RunTrain));
  AddEvalCommand(program, Guarded(RunEval));
  AddPredictCommand(program, Guarded(RunPredict));
  AddCheckCommand(program, Guarded(RunRecipeCheck));
  AddLintCommand(program, Guarded(RunLint));
  AddExportCommand(program, Guarded(RunExport));
  AddScheduleCommand(program, Guarded(RunSchedule));
  AddLrFindCommand(program, Guarded(RunLrFind));
  AddBatchFindCommand(program, Guarded(RunBatchFind));
  AddBenchCommand(program, Guarded(RunModelBench));
  AddInspectCommand(program, [](const InspectArguments& arguments) {
    if (!NeedsTrainer(arguments)) return RunInspect(arguments);
    return PrintInspection(
        arguments.models ? InspectModels(arguments.model) : InspectDirectory(arguments.file),
        arguments.json);
  });
  AddHelpCommands(program, PrintCompletionWords);
  return program.Run(argc, argv);
}
