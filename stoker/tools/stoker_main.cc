// `stoker`: everything that needs no libtorch, and the way to stoker-train for what does.
#include <fmt/ranges.h>

#include <functional>
#include <utility>

#include "stoker/data/recipe/plugins.h"
#include "stoker/tools/commands/all_commands.h"
#include "stoker/tools/commands/help_commands.h"
#include "stoker/tools/doctor/doctor.h"
#include "stoker/tools/foreign/foreign_doctor.h"
#include "stoker/tools/launch/launch.h"
#include "stoker/tools/program/process.h"
#include "stoker/tools/scale/scale.h"
#include "stoker/tools/top/top.h"

namespace stoker {
namespace {

// What commands do with a pipeline needs no torch, unless plug-ins are loaded: these may.
template <typename Arguments>
std::function<Status(const Arguments&)> HereUnlessCodeIsLoaded(Status (*run)(const Arguments&),
                                                               char** argv) {
  return [run, argv](const Arguments& arguments) {
    const bool loads = GetPluginPolicy() == PluginPolicy::kLoad;
    return loads && HasTrainer() ? ExecTrainer(argv) : run(arguments);
  };
}

CommandActions Actions(char** argv) {
  CommandActions actions{.hand_over = {argv}};
  actions.check = [argv](const CheckArguments& arguments) {
    return HasTrainer() ? ExecTrainer(argv) : RunDataCheck(arguments);
  };
  actions.doctor = [argv](const DoctorArguments& arguments) {
    return HasTrainer() ? ExecTrainer(argv) : RunDoctor(arguments, {});
  };
  actions.foreign_doctor = RunForeignDoctor;
  actions.launch = RunLaunch;
  actions.scale = RunScale;
  actions.top = RunTop;
  actions.bench = HereUnlessCodeIsLoaded(RunBench, argv);
  actions.pack = HereUnlessCodeIsLoaded(RunPack, argv);
  actions.inspect = [argv](const InspectArguments& arguments) {
    return NeedsTrainer(arguments) ? ExecTrainer(argv) : RunInspect(arguments);
  };
  actions.vocabulary = HereUnlessCodeIsLoaded(RunVocabulary, argv);
  actions.completion_words = [argv](const std::string& what) {
    if (HasTrainer()) return ExecTrainer(argv);
    return PrintWords(what == "keys" ? DataKeys() : std::vector<std::string>());
  };
  if (!HasTrainer()) {
    actions.note = fmt::format("Not here: stoker-train, which {} need; {}",
                               fmt::join(actions.HandedOver(), ", "), HowToGetTrainer());
  }
  return actions;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  using namespace stoker;
  PrepareProcess();
  return RunProgram(argc, argv, [argv](Program& program) { AddCommands(program, Actions(argv)); });
}
