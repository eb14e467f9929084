// `stoker`: everything that needs no libtorch, and the way to stoker-train for what does.
#include "stoker/tools/batch_find_command.h"
#include "stoker/tools/bench_command.h"
#include "stoker/tools/check_command.h"
#include "stoker/tools/eval_command.h"
#include "stoker/tools/export_command.h"
#include "stoker/tools/help_commands.h"
#include "stoker/tools/inspect_command.h"
#include "stoker/tools/lint_command.h"
#include "stoker/tools/lr_find_command.h"
#include "stoker/tools/pack_command.h"
#include "stoker/tools/plot_command.h"
#include "stoker/tools/predict_command.h"
#include "stoker/tools/process.h"
#include "stoker/tools/program.h"
#include "stoker/tools/schedule_command.h"
#include "stoker/tools/train_command.h"
#include "stoker/tools/trainer_process.h"
#include "stoker/tools/verify_command.h"
#include "stoker/tools/vocabulary_command.h"

int main(int argc, char** argv) {
  using namespace stoker;
  PrepareProcess();
  // The arguments are right when this is called; stoker-train reads them again.
  const auto hand_over = [argv](const auto&) { return ExecTrainer(argv); };
  Program program;
  AddTrainCommand(program, hand_over);
  AddEvalCommand(program, hand_over);
  AddPredictCommand(program, hand_over);
  AddCheckCommand(program, [argv](const CheckArguments& arguments) {
    return HasTrainer() ? ExecTrainer(argv) : RunDataCheck(arguments);
  });
  AddLintCommand(program, hand_over);
  AddExportCommand(program, hand_over);
  AddScheduleCommand(program, hand_over);
  AddPlotCommand(program);
  AddLrFindCommand(program, hand_over);
  AddBatchFindCommand(program, hand_over);
  AddBenchCommand(program, hand_over);
  AddPackCommand(program);
  AddVerifyCommand(program);
  AddInspectCommand(program, [argv](const InspectArguments& arguments) {
    return NeedsTrainer(arguments) ? ExecTrainer(argv) : RunInspect(arguments);
  });
  AddVocabularyCommand(program);
  AddHelpCommands(program, [argv](const std::string& what) {
    if (HasTrainer()) return ExecTrainer(argv);
    return PrintWords(what == "keys" ? DataKeys() : std::vector<std::string>());
  });
  return program.Run(argc, argv);
}
