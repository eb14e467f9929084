#include "stoker/tools/commands/export_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kExportAbout =
    "Writes weights for other programs.\n"
    "FROM is a run (its final weights, or those of its newest whole checkpoint), or a file of "
    "weights: .pt, .pth or .safetensors. What is written follows the ending of --to: .pt and .pth "
    "load with torch.load(FILE, weights_only=True), .safetensors with safetensors. Names are those "
    "of PyTorch's state dict.";
constexpr const char* kExportFooter =
    "Example: stoker export runs/first --to weights.pt\n"
    "Exit: 0 written, 1 failed, 2 wrong usage";

}  // namespace

void AddExportCommand(Program& program, std::function<Status(const ExportArguments&)> run) {
  auto [app, arguments] =
      program.Add<ExportArguments>("export", kExportAbout, kExportFooter, std::move(run));
  app.add_option("FROM", arguments.from, "a run's directory, or a file of weights")
      ->type_name("")
      ->required();
  app.add_option("--to", arguments.to, "the file to write; one of that name is replaced")
      ->type_name("FILE")
      ->required();
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
