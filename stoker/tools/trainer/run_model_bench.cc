#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/base/json_text.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/program/trace_options.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/trial_table.h"
#include "stoker/train/tune/batch_finder.h"

namespace stoker {
namespace {

// A row as advertisements have it: 13 numbers, and 26 words of 1,000 known ones each, with vectors.
ModelInput RowOfFeatures() {
  FeatureLayout layout{.columns = {{.name = "numbers", .slots = 13}}};
  for (int word = 1; word <= 26; ++word) {
    layout.columns.push_back(
        {.name = fmt::format("word_{}", word), .categories = 1000, .embedding = 16});
  }
  const int64_t slots = layout.NumSlots();
  return {.channels = slots, .features = std::move(layout)};
}

// "3x224x224", "tokens" or "features"
Result<ModelInput> ParseInput(std::string_view text) {
  if (text == "tokens") return ModelInput{.channels = 0, .tokens = true};
  if (text == "features") return RowOfFeatures();
  int64_t sizes[3] = {};
  std::string_view rest = text;
  for (int64_t& size : sizes) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || size < 1 || size > 1 << 20) {
      return InvalidArgument(
          "--input {}: it is channels, height and width, such as 3x224x224 or 1x28x28; or tokens, "
          "or features",
          text);
    }
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    const bool last = &size == &sizes[2];
    if (last == rest.empty() && (last || rest.front() == 'x')) {
      rest.remove_prefix(last ? 0 : 1);
      continue;
    }
    return InvalidArgument("--input {}: it is channels, height and width, such as 3x224x224", text);
  }
  return ModelInput{.channels = sizes[0], .height = sizes[1], .width = sizes[2]};
}

// A name, or a name with options as a recipe has them.
Result<ModelRegistry::Configured> ParseModel(const std::string& text) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode node, ParseYaml("model: " + text, "--model"));
  return ParseModelSection(node);
}

Status MeasureAndPrint(const BenchArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const ModelInput input, ParseInput(arguments.input));
  STOKER_ASSIGN_OR_RETURN(const auto model, ParseModel(arguments.model));
  const Result<ModelBench> measured =
      BenchModel(model, {.input = input,
                         .sizes = arguments.batches,
                         .threads = arguments.threads,
                         .memory_bytes = static_cast<uint64_t>(arguments.memory_bytes),
                         .seconds = arguments.seconds});
  if (!measured.ok()) {
    return measured.status().While(
        fmt::format("trying random samples of --input {} (a size such as 3x224x224, tokens or "
                    "features)",
                    arguments.input));
  }
  const ModelBench& bench = *measured;
  const std::string title =
      fmt::format("{}, {} samples: by batch size", model.name, arguments.input);
  const Chart chart = TrialChart(bench.trials, title, bench.noun);
  STOKER_RETURN_IF_ERROR(WriteChart(chart, arguments.chart));
  if (arguments.json) {
    const Json json = {{"model", model.name},
                       {"input", arguments.input},
                       {"parameters", bench.parameters},
                       {"device", bench.device},
                       {"memory_format", bench.memory_format},
                       {"threads", bench.threads},
                       {"trials", TrialJson(bench.trials)}};
    return PrintResult(DumpJson(json) + "\n");
  }
  return PrintResult(ChartForTerminal(chart) +
                     fmt::format("\n{} parameters, float32 training steps on {}, {}, {}\n\n",
                                 WithThousands(static_cast<double>(bench.parameters)), bench.device,
                                 bench.memory_format, CountText(bench.threads, "thread")) +
                     TrialTable(bench.trials, bench.noun));
}

}  // namespace

Status RunModelBench(const BenchArguments& arguments) {
  return RunTracedFromNow(arguments.trace, "stoker bench",
                          [&] { return MeasureAndPrint(arguments); });
}

}  // namespace stoker
