// `stoker-train`: the commands that need libtorch. People start it through `stoker`.
#include "stoker/tools/help_commands.h"
#include "stoker/tools/inspect_command.h"
#include "stoker/tools/process.h"
#include "stoker/tools/program.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/allocator.h"

int main(int argc, char** argv) {
  using namespace stoker;
  PrepareProcess();
  KeepLargeBlocksMapped();
  Program program;
  AddTrainCommand(program, RunTrain);
  AddEvalCommand(program, RunEval);
  AddPredictCommand(program, RunPredict);
  AddCheckCommand(program, RunRecipeCheck);
  AddLintCommand(program, RunLint);
  AddExportCommand(program, RunExport);
  AddScheduleCommand(program, RunSchedule);
  AddLrFindCommand(program, RunLrFind);
  AddBatchFindCommand(program, RunBatchFind);
  AddBenchCommand(program, RunModelBench);
  AddInspectCommand(program, [](const InspectArguments& arguments) {
    if (!NeedsTrainer(arguments)) return RunInspect(arguments);
    return PrintInspection(
        arguments.models ? InspectModels(arguments.model) : InspectDirectory(arguments.file),
        arguments.json);
  });
  AddHelpCommands(program, PrintAllKeys);
  return program.Run(argc, argv);
}
