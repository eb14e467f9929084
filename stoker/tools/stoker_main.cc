// `stoker`: everything that needs no libtorch, and the way to stoker-train for what does.
#include <functional>

#include "stoker/data/recipe/plugins.h"
#include "stoker/tools/commands/batch_find_command.h"
#include "stoker/tools/commands/bench_command.h"
#include "stoker/tools/commands/check_command.h"
#include "stoker/tools/commands/compare_command.h"
#include "stoker/tools/commands/env_command.h"
#include "stoker/tools/commands/eval_command.h"
#include "stoker/tools/commands/export_command.h"
#include "stoker/tools/commands/help_commands.h"
#include "stoker/tools/commands/inspect_command.h"
#include "stoker/tools/commands/lint_command.h"
#include "stoker/tools/commands/lr_find_command.h"
#include "stoker/tools/commands/pack_command.h"
#include "stoker/tools/commands/plot_command.h"
#include "stoker/tools/commands/predict_command.h"
#include "stoker/tools/commands/schedule_command.h"
#include "stoker/tools/commands/train_command.h"
#include "stoker/tools/commands/verify_command.h"
#include "stoker/tools/commands/vocabulary_command.h"
#include "stoker/tools/doctor/doctor.h"
#include "stoker/tools/foreign/foreign_doctor.h"
#include "stoker/tools/program/process.h"
#include "stoker/tools/program/program.h"
#include "stoker/tools/program/trainer_process.h"

namespace {

// What commands do with a pipeline needs no torch, unless plug-ins are loaded: these may.
template <typename Arguments>
std::function<stoker::Status(const Arguments&)> HereUnlessCodeIsLoaded(
    stoker::Status (*run)(const Arguments&), char** argv) {
  return [run, argv](const Arguments& arguments) {
    const bool loads = stoker::GetPluginPolicy() == stoker::PluginPolicy::kLoad;
    return loads && stoker::HasTrainer() ? stoker::ExecTrainer(argv) : run(arguments);
  };
}

}  // namespace

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
  AddDoctorCommand(
      program,
      [argv](const DoctorArguments& arguments) {
        return HasTrainer() ? ExecTrainer(argv) : RunDoctor(arguments, {});
      },
      RunForeignDoctor);
  AddBenchCommand(program, HereUnlessCodeIsLoaded(RunBench, argv), hand_over);
  AddPackCommand(program, HereUnlessCodeIsLoaded(RunPack, argv));
  AddVerifyCommand(program);
  AddInspectCommand(program, [argv](const InspectArguments& arguments) {
    return NeedsTrainer(arguments) ? ExecTrainer(argv) : RunInspect(arguments);
  });
  AddCompareCommand(program);
  AddEnvCommand(program);
  AddVocabularyCommand(program, HereUnlessCodeIsLoaded(RunVocabulary, argv));
  AddHelpCommands(program, [argv](const std::string& what) {
    if (HasTrainer()) return ExecTrainer(argv);
    return PrintWords(what == "keys" ? DataKeys() : std::vector<std::string>());
  });
  return program.Run(argc, argv);
}
