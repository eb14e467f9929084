#include "stoker/tools/predict_command.h"

#include "stoker/tools/arguments.h"

namespace stoker {
namespace {

constexpr const char* kAbout =
    "Says which class each image belongs to.\n"
    "The likeliest classes come first, each with its probability. Images are prepared as in "
    "the eval pipeline of the run's recipe; classes have the names that its data.classes "
    "gives, or their numbers. Files that cannot be read are named at the end, and the others are "
    "answered all the same.";
constexpr const char* kFooter =
    "Example: stoker predict runs/first shirt.png --top 1\n"
    "Exit: 0 all images predicted, 1 failed, 2 wrong usage";

}  // namespace

void AddPredictCommand(Program& program, std::function<Status(const PredictArguments&)> run) {
  auto [app, arguments] = program.Add<PredictArguments>("predict", kAbout, kFooter, std::move(run));
  AddRunArgument(app, arguments.run).required();
  app.add_option("FILE", arguments.files,
                 "images: JPEG, PNG, BMP, WebP, PNM or IDX (plain or .gz), known by content")
      ->type_name("")
      ->required();
  app.add_option("--top", arguments.top, "classes shown for each image, 1..1000")
      ->type_name("K")
      ->check(CLI::Range(1, 1000).description(""))
      ->default_str("3");
  app.add_option("--limit", arguments.limit, "images taken from each file; 0: all")
      ->type_name("N")
      ->check(AtLeastCheck(0))
      ->default_str("10");
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
