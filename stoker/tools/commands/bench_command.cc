#include "stoker/tools/commands/bench_command.h"

#include <fmt/format.h>

#include "stoker/base/json_text.h"
#include "stoker/data/recipe/memory_options.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/tools/commands/pipeline_bench.h"
#include "stoker/tools/live/live_server.h"
#include "stoker/tools/live/work_watch.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/program/trace_options.h"

namespace stoker {
namespace {

constexpr const char* kBenchAbout =
    "Measures the input pipeline of RECIPE alone, or a model (--model).\n"
    "Prints samples per second, memory and each stage's time; of a model samples per second "
    "and memory, by batch size. Writes nothing but what options name.";
constexpr const char* kBenchFooter =
    "Example: stoker bench recipes/fashion-mnist.yaml; stoker bench --model resnet50\n"
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
             "measured        {} in {} over {:.2f} s\n\n",
             WithThousands(measured.samples_per_s), WithThousands(measured.slice_min),
             WithThousands(measured.slice_median), WithThousands(measured.slice_max),
             measured.first_batch_ms, measured.load_ms, measured.peak_rss_mb,
             CountText(measured.samples, "sample"), CountText(measured.batches, "batch", "batches"),
             measured.seconds) +
         measured.profile.ToText() + explained;
}

Status CheckAndRun(const BenchArguments& arguments,
                   const std::function<Status(const BenchArguments&)>& run,
                   const std::function<Status(const BenchArguments&)>& run_model) {
  if (arguments.recipe.empty() == arguments.model.empty()) {
    return InvalidArgument("{}; `stoker bench --help` explains",
                           arguments.recipe.empty()
                               ? "RECIPE is required (only --model does without)"
                               : "RECIPE and --model are two things to measure; give one");
  }
  if (!arguments.model.empty() && arguments.serve.any()) {
    return InvalidArgument(
        "--metrics and --dashboard show how a pipeline runs, and --model measures without one; "
        "leave them out");
  }
  return arguments.model.empty() ? run(arguments) : run_model(arguments);
}

void AddModelOptions(CLI::App& app, BenchArguments& arguments) {
  app.add_option("--model", arguments.model, "measure training steps of a model, such as resnet50")
      ->type_name("MODEL");
  app.add_option("--input", arguments.input, "its samples: pictures; or tokens, or features")
      ->type_name("CxHxW")
      ->default_str("3x224x224");
  app.add_option("--batches", arguments.batches, "its batch sizes")
      ->type_name("N,N...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(AtLeastCheck(1))
      ->default_str("1,2,4,...,64");
  AddChartOptions(app, arguments.chart);
}

}  // namespace

void AddBenchCommand(Program& program, std::function<Status(const BenchArguments&)> run,
                     std::function<Status(const BenchArguments&)> run_model) {
  auto [app, arguments] = program.Add<BenchArguments>(
      "bench", kBenchAbout, kBenchFooter,
      [run = std::move(run), run_model = std::move(run_model)](const BenchArguments& given) {
        return CheckAndRun(given, run, run_model);
      });
  AddRecipeArgument(app, arguments.recipe);
  AddModelOptions(app, arguments);
  app.add_option("--threads", arguments.threads, "threads that work, 1..1024")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->default_str("as many as pay");
  app.add_option("--seconds", arguments.seconds, "how long to measure, 0.1..86400")
      ->type_name("S")
      ->check(BetweenCheck(0.1, 86400))
      ->default_str("5");
  app.add_option("--epochs", arguments.epochs, "measure so many whole passes instead")
      ->type_name("N")
      ->check(AtLeastCheck(1))
      ->excludes("--seconds")
      ->excludes("--model");
  // For a model it limits the memory of its steps.
  AddMemoryOption(app).each(
      [&bytes = arguments.memory_bytes](const std::string& given) { bytes = std::stoll(given); });
  app.add_flag("--inline", arguments.run_inline, "one thread, nothing ahead of demand")
      ->group(kSeldomGroup);
  app.add_flag("--explain", arguments.explain, "also each choice of the runtime, with its figures");
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app).group(kSeldomGroup);
  AddServeOptions(app, arguments.serve);
  AddJsonOption(app, arguments.json);
  AddTraceOptions(app, arguments.trace, "the beginning");
  app.add_flag("--uncounted", arguments.uncounted)->group("");
}

namespace {

Status RunPipelineBench(const BenchArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe,
                          ReadRecipeAndPlugins(arguments.recipe, arguments.set));
  STOKER_ASSIGN_OR_RETURN(
      const DataRecipe data,
      ParseDataSection(recipe, std::filesystem::path(arguments.recipe).parent_path()));
  Runtime runtime = arguments.run_inline ? Runtime::Inline() : Runtime::Threaded(arguments.threads);
  runtime.count_stages = !arguments.uncounted;
  if (arguments.trace.any()) {  // there is something to write when a signal ends it
    NoteInterrupt();
    runtime.stop = &Interrupted();
  }
  STOKER_RETURN_IF_ERROR(WishForMemoryOf(recipe));  // gives way to --memory
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<LiveServer> live,
                          LiveServer::Start(arguments.serve, {.command = "bench",
                                                              .recipe = arguments.recipe,
                                                              .phase = "measuring the input"}));
  BenchLength length{.seconds = arguments.seconds, .epochs = arguments.epochs};
  WorkWatch watch(live ? &live->board() : nullptr);
  if (live) length.observer = ShowPasses(watch);
  const Result<PipelineMeasurement> measured = MeasurePipeline(data.train, runtime, length);
  if (Interrupted()) return Cancelled("stopped before all was measured");
  STOKER_RETURN_IF_ERROR(measured.status());
  return PrintResult(arguments.json ? DumpJson(ToJson(*measured, arguments)) + "\n"
                                    : ToText(*measured, arguments));
}

}  // namespace

Status RunBench(const BenchArguments& arguments) {
  return RunTracedFromNow(arguments.trace, "stoker bench",
                          [&] { return RunPipelineBench(arguments); });
}

}  // namespace stoker
