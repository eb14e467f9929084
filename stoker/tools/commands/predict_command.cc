#include "stoker/tools/commands/predict_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kPredictAbout =
    "Says which class, labels or numbers each sample has.\n"
    "Without FILE these are all that data.eval of the run's recipe reads (--set changes what that "
    "is; labels need not be there): a line of JSON for each, in its order. FILEs are prepared as "
    "data.eval does; those that cannot be read are named at the end, and the others are answered "
    "all the same. Classes have the names of data.classes, or numbers: `class` and `label` are the "
    "name and the number of the likeliest class, the model's answer (--fields label: the data's).";
constexpr const char* kPredictFooter =
    "Example: stoker predict runs/first --set data.root=/data/new --to answers.jsonl\n"
    "Exit: 0 predicted, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

// Options that only make sense where the samples come from data.eval.
Status CheckWithFiles(const PredictArguments& arguments) {
  const char* const option = !arguments.to.empty()       ? "--to"
                             : !arguments.fields.empty() ? "--fields"
                                                         : nullptr;
  if (arguments.files.empty() || option == nullptr) return OkStatus();
  return InvalidArgument(
      "{} is for the samples of data.eval, and FILE '{}' is given; leave one of them out, or have "
      "data.eval read the files (docs/predicting.md)",
      option, arguments.files.front());
}

void AddOptions(CLI::App& app, PredictArguments& arguments) {
  app.add_option("FILE", arguments.files, "pictures: JPEG, PNG, BMP, WebP, PNM or IDX")
      ->type_name("");
  app.add_option("--top", arguments.top, "likeliest classes of each sample, 1..1000")
      ->type_name("K")
      ->check(CLI::Range(1, 1000).description(""))
      ->default_str("1; 3 of FILE");
  app.add_option("--limit", arguments.limit, "samples taken (from each FILE); 0: all")
      ->type_name("N")
      ->check(AtLeastCheck(0))
      ->default_str("0; 10 of FILE");
  app.add_option("--to", arguments.to, "written once all are made; .csv: a table")
      ->type_name("OUT")
      ->default_str("standard output");
  app.add_option("--fields", arguments.fields, "of data.eval that go into the lines")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--scores", arguments.scores, "also what the model gives for each class");
}

}  // namespace

void AddPredictCommand(Program& program, std::function<Status(const PredictArguments&)> run) {
  auto [app, arguments] =
      program.Add<PredictArguments>("predict", kPredictAbout, kPredictFooter,
                                    [run = std::move(run)](const PredictArguments& given) {
                                      STOKER_RETURN_IF_ERROR(CheckWithFiles(given));
                                      return run(given);
                                    });
  AddRunArgument(app, arguments.run).required();
  AddOptions(app, arguments);
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  AddMemoryOption(app);
  AddJsonOption(app, arguments.json).description("one JSON object for all, of FILE or with --to");
}

}  // namespace stoker
