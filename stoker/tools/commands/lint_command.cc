#include "stoker/tools/commands/lint_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kLintAbout =
    "Looks for mistakes in a recipe's model that raise no error.\n"
    "They cost accuracy or time. Puts some samples of the first training batch through the model: "
    "a bias before a batch norm, batch norm over one sample, inputs that are not normalised, a "
    "softmax before the loss, parameters that never learn, channels that tensor cores cannot use. "
    "Each finding names the layer and the fix; `stoker train` reports them too.";
constexpr const char* kLintFooter =
    "Example: stoker lint recipes/fashion-mnist.yaml\n"
    "Exit: 0 nothing but hints, 1 findings, 2 wrong usage or recipe";

}  // namespace

void AddLintCommand(Program& program, std::function<Status(const LintArguments&)> run) {
  auto [app, arguments] =
      program.Add<LintArguments>("lint", kLintAbout, kLintFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  AddSetOption(app, arguments.set);
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
