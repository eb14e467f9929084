#include <fmt/format.h>

#include <filesystem>

#include "stoker/base/json_or_null.h"
#include "stoker/base/json_text.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/trial_table.h"
#include "stoker/train/tune/batch_finder.h"

namespace stoker {
namespace {

// Why no larger batch was found.
std::string Limit(const BatchFinding& found, const BatchFindArguments& arguments) {
  if (found.samples && found.largest >= *found.samples) {
    return ", all samples of data.train: there is no larger batch";
  }
  if (found.largest >= arguments.most) return ", the largest that was to be tried";
  return "; one 3 % larger does not";
}

std::string Advice(const BatchFinding& found, const BatchFindArguments& arguments) {
  const BatchTrial near_peak = *SmallestNearPeak(found.trials);
  const std::string batch = WithThousands(static_cast<double>(near_peak.batch));
  return fmt::format(
      "The largest batch that fits into {}: {}{}\n"
      "The smallest with 95 % of the highest throughput: {} ({} {}s/s)\n\n"
      "Set it:\n  stoker train {} --set {}={}\n",
      found.limited ? ByteText(found.memory_bytes) : "the device",
      WithThousands(static_cast<double>(found.largest)), Limit(found, arguments), batch,
      FigureText(near_peak.images_per_s), found.noun, ShellWord(arguments.recipe), found.key,
      near_peak.batch);
}

Json ToJson(const BatchFinding& found) {
  const auto near_peak = SmallestNearPeak(found.trials);
  return {{"largest", found.largest},
          {"samples", OrNull(found.samples)},
          {"near_peak", near_peak ? Json(near_peak->batch) : Json()},
          {"memory_bytes", found.limited ? Json(found.memory_bytes) : Json()},
          {"device", found.device},
          {"key", found.key},
          {"trials", TrialJson(found.trials)}};
}

}  // namespace

Status RunBatchFind(const BatchFindArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe, LoadRecipe(arguments.recipe, arguments.set));
  STOKER_ASSIGN_OR_RETURN(
      const BatchFinding found,
      FindBatch(recipe, {.memory_bytes = static_cast<uint64_t>(arguments.memory_bytes),
                         .most = arguments.most,
                         .seconds = arguments.seconds}));
  const std::string name = std::filesystem::path(arguments.recipe).filename().string();
  const Chart chart = TrialChart(found.trials, fmt::format("{}: by batch size", name), found.noun);
  STOKER_RETURN_IF_ERROR(WriteChart(chart, arguments.chart));
  if (found.largest == 0) {
    STOKER_RETURN_IF_ERROR(PrintResult(arguments.json ? DumpJson(ToJson(found)) + "\n"
                                                      : TrialTable(found.trials, found.noun)));
    return ResourceExhausted(
        "not even one sample fits into {}: the model is too large; allow more (--memory)",
        ByteText(found.memory_bytes));
  }
  if (arguments.json) return PrintResult(DumpJson(ToJson(found)) + "\n");
  return PrintResult(ChartForTerminal(chart) + "\n" + TrialTable(found.trials, found.noun) + "\n" +
                     Advice(found, arguments));
}

}  // namespace stoker
