#include "stoker/tools/commands/eval_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kEvalAbout =
    "Measures a trained model on the eval pipeline of its recipe.\n"
    "Prints loss and accuracy (there is none of numbers, and of several targets one each), of the "
    "run's final weights, or of its newest whole checkpoint "
    "where training has not finished.";
constexpr const char* kEvalFooter =
    "Example: stoker eval runs/first --set data.root=/data/fashion-mnist\n"
    "Exit: 0 measured, 1 failed, 2 wrong usage or recipe";

}  // namespace

void AddEvalCommand(Program& program, std::function<Status(const EvalArguments&)> run) {
  auto [app, arguments] =
      program.Add<EvalArguments>("eval", kEvalAbout, kEvalFooter, std::move(run));
  AddRunArgument(app, arguments.run).required();
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  AddMemoryOption(app);
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
