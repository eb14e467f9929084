#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stoker/data/advice/data_doubts.h"
#include "stoker/data/advice/fixed_order.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/check/model_lint.h"

namespace stoker {

Status RunLint(const LintArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe, LoadRecipe(arguments.recipe, arguments.set));
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
  out.text = fmt::format("{}: model {}\n", arguments.recipe, recipe.model.name);
  for (const LintFinding& finding : findings) {
    out.json["findings"].push_back({{"rule", finding.rule},
                                    {"where", finding.where},
                                    {"problem", finding.problem},
                                    {"mend", finding.advice},
                                    {"hint", finding.hint}});
    out.text +=
        fmt::format("  {}{}: {}\n", finding.hint ? "hint, " : "", finding.rule, finding.ToText());
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
