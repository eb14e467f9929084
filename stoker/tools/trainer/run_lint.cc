#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/base/unloaded_kinds.h"
#include "stoker/data/advice/data_doubts.h"
#include "stoker/data/advice/fixed_order.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/check/model_lint.h"

namespace stoker {

namespace {

// Prints the kinds that plug-ins bring, which are not loaded here: no rule is applied without them.
Status PrintNotJudged(const LintArguments& arguments, const Status& unknown) {
  Inspection out;
  out.json = {{"recipe", arguments.recipe}, {"findings", Json::array()}};
  for (const std::string& message : ProblemsIn(unknown)) {
    out.json["not_checked"].push_back(message);
    out.text += fmt::format("not checked: {}\n", Printable(message));
  }
  return PrintInspection(out, arguments.json);
}

}  // namespace

Status RunLint(const LintArguments& arguments) {
  SetPluginPolicy(PluginPolicy::kLeaveOut);
  const Result<Recipe> read = LoadRecipe(arguments.recipe, arguments.set);
  STOKER_RETURN_IF_ERROR(AboutKnownKinds(read.status()));
  if (!read.ok()) return PrintNotJudged(arguments, read.status());
  const Recipe& recipe = *read;
  STOKER_ASSIGN_OR_RETURN(std::vector<LintFinding> findings, LintRecipe(recipe));
  // A hint, since the order may be meant: of a series in time, say.
  if (const std::optional<OrderHint> order = HintOfOrder(recipe.data.train)) {
    findings.push_back({.rule = "order",
                        .where = "data.train",
                        .problem = std::string(order->problem),
                        .advice = std::string(order->advice),
                        .hint = true});
  }
  for (const DataDoubt& doubt : DoubtsAbout(recipe.data.filled)) {
    findings.push_back({.rule = "data",
                        .where = "data",
                        .problem = doubt.problem,
                        .advice = doubt.advice,
                        .hint = true});
  }
  Inspection out;
  out.json = {
      {"recipe", arguments.recipe}, {"model", recipe.model.name}, {"findings", Json::array()}};
  out.text = fmt::format("{}: model {}\n", Printable(arguments.recipe), recipe.model.name);
  for (const LintFinding& finding : findings) {
    out.json["findings"].push_back({{"rule", finding.rule},
                                    {"where", finding.where},
                                    {"problem", finding.problem},
                                    {"advice", finding.advice},
                                    {"hint", finding.hint}});
    const std::string rule = finding.rule == finding.where ? "" : finding.rule + ": ";
    out.text += fmt::format("  {}{}{}\n", finding.hint ? "hint, " : "", rule, finding.ToText());
  }
  const auto serious = std::ranges::count(findings, false, &LintFinding::hint);
  if (findings.empty()) out.text += "  nothing found\n";
  if (serious > 0) {
    out.damage = FailedPrecondition("{}: {} {} in the model {}", arguments.recipe, serious,
                                    serious == 1 ? "finding" : "findings", recipe.model.name);
  }
  return PrintInspection(out, arguments.json);
}

}  // namespace stoker
