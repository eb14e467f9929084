#include "stoker/tools/bench_command.h"

#include <fmt/format.h>

#include "stoker/data/recipe.h"
#include "stoker/tools/arguments.h"
#include "stoker/tools/pipeline_bench.h"
#include "stoker/tools/print.h"
#include "stoker/tools/text.h"

namespace stoker {
namespace {

constexpr const char* kAbout =
    "Measures the input pipeline of RECIPE alone.\n"
    "Runs data.train epoch after epoch and prints samples per second, the time to the first "
    "batch once the files are loaded, the peak memory, and for each stage the time it was "
    "busy, starved of input and blocked on its output. Trains and writes nothing.";
constexpr const char* kFooter =
    "Example: stoker bench recipes/fashion-mnist.yaml --threads 2 --seconds 3\n"
    "Exit: 0 measured, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

Json ToJson(const PipelineMeasurement& measured, const BenchArguments& arguments) {
  Json json{{"recipe", arguments.recipe},
            {"samples_per_s", measured.samples_per_s},
            {"samples_per_s_slices",
             {{"min", measured.slice_min},
              {"median", measured.slice_median},
              {"max", measured.slice_max}}},
            {"samples", measured.samples},
            {"batches", measured.batches},
            {"seconds", measured.seconds},
            {"load_ms", measured.load_ms},
            {"first_batch_ms", measured.first_batch_ms},
            {"peak_rss_mb", measured.peak_rss_mb},
            {"profile", measured.profile.ToJson()}};
  if (arguments.explain) json["explanation"] = measured.explanation.ToJson();
  return json;
}

std::string ToText(const PipelineMeasurement& measured, const BenchArguments& arguments) {
  const std::string explained = arguments.explain ? "\n" + measured.explanation.ToText() : "";
  return fmt::format(
             "samples_per_s   {} (slices of 0.5 s: least {}, median {}, most {})\n"
             "first_batch_ms  {:.1f} after {:.0f} ms of loading the files\n"
             "peak_rss_mb     {:.1f}\n"
             "measured        {} samples in {} batches over {:.2f} s\n\n",
             WithThousands(measured.samples_per_s), WithThousands(measured.slice_min),
             WithThousands(measured.slice_median), WithThousands(measured.slice_max),
             measured.first_batch_ms, measured.load_ms, measured.peak_rss_mb,
             WithThousands(static_cast<double>(measured.samples)),
             WithThousands(static_cast<double>(measured.batches)), measured.seconds) +
         measured.profile.ToText() + explained;
}

}  // namespace

void AddBenchCommand(Program& program) {
  auto [app, arguments] = program.Add<BenchArguments>("bench", kAbout, kFooter, RunBench);
  AddRecipeArgument(app, arguments.recipe).required();
  app.add_option("--threads", arguments.threads, "worker threads, 1..1024")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->default_str("as many as pay");
  app.add_option("--seconds", arguments.seconds, "how long to measure, 0.1..86400")
      ->type_name("S")
      ->check(CLI::Range(0.1, 86400.0).description(""))
      ->default_str("5");
  app.add_option("--memory", arguments.memory_bytes, "limit for all buffers, such as 512MiB")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true).description(""))
      ->check(AtLeastCheck(1))
      ->default_str("a quarter of the container's");
  app.add_flag("--inline", arguments.run_inline,
               "one thread and nothing ahead of demand: the plain way, for comparison");
  app.add_flag("--explain", arguments.explain,
               "also print the pipeline as it is run, each choice of the runtime with its figures, "
               "what every stage costs, and which one limits the whole");
  AddSetOption(app, arguments.set);
  AddJsonOption(app, arguments.json);
}

Status RunBench(const BenchArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ReadRecipe(arguments.recipe, arguments.set));
  STOKER_ASSIGN_OR_RETURN(
      const DataRecipe data,
      ParseDataSection(recipe, std::filesystem::path(arguments.recipe).parent_path()));
  Runtime runtime = arguments.run_inline ? Runtime::Inline() : Runtime::Threaded(arguments.threads);
  runtime.memory_budget = arguments.memory_bytes;
  STOKER_ASSIGN_OR_RETURN(const PipelineMeasurement measured,
                          MeasurePipeline(data.train, runtime, arguments.seconds));
  return PrintResult(arguments.json ? ToJson(measured, arguments).dump() + "\n"
                                    : ToText(measured, arguments));
}

}  // namespace stoker
