#include "stoker/tools/commands/all_commands.h"

#include <utility>

#include "stoker/tools/commands/compare_command.h"
#include "stoker/tools/commands/features_command.h"
#include "stoker/tools/commands/help_commands.h"
#include "stoker/tools/commands/plot_command.h"
#include "stoker/tools/commands/verify_command.h"

namespace stoker {

std::vector<std::string> CommandActions::HandedOver() const {
  std::vector<std::string> names;
  const auto look = [&](const char* name, const auto& action) {
    if (action.template target<HandOver>() != nullptr) names.emplace_back(name);
  };
  look("train", train);
  look("eval", eval);
  look("predict", predict);
  look("check", check);
  look("lint", lint);
  look("export", export_weights);
  look("schedule", schedule);
  look("lr-find", lr_find);
  look("batch-find", batch_find);
  look("doctor", doctor);
  look("inspect", inspect);
  return names;
}

void AddCommands(Program& program, CommandActions actions) {
  AddTrainCommand(program, std::move(actions.train));
  AddLaunchCommand(program, std::move(actions.launch));
  AddScaleCommand(program, std::move(actions.scale));
  AddEvalCommand(program, std::move(actions.eval));
  AddPredictCommand(program, std::move(actions.predict));
  AddCheckCommand(program, std::move(actions.check));
  AddLintCommand(program, std::move(actions.lint));
  AddExportCommand(program, std::move(actions.export_weights));
  AddScheduleCommand(program, std::move(actions.schedule));
  AddPlotCommand(program);
  AddLrFindCommand(program, std::move(actions.lr_find));
  AddBatchFindCommand(program, std::move(actions.batch_find));
  AddDoctorCommand(program, std::move(actions.doctor), std::move(actions.foreign_doctor));
  AddTopCommand(program, std::move(actions.top));
  AddBenchCommand(program, std::move(actions.bench), std::move(actions.bench_model));
  AddPackCommand(program, std::move(actions.pack));
  AddVerifyCommand(program);
  AddInspectCommand(program, std::move(actions.inspect));
  AddCompareCommand(program);
  AddEnvCommand(program, std::move(actions.env_exchange));
  AddFeaturesCommand(program);
  AddVocabularyCommand(program, std::move(actions.vocabulary));
  AddHelpCommands(program, std::move(actions.completion_words), actions.note);
}

}  // namespace stoker
