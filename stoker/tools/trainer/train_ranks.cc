#include "stoker/tools/trainer/train_ranks.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/log.h"
#include "stoker/cluster/agreement.h"
#include "stoker/cluster/membership.h"
#include "stoker/run/recipe_changes.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/interrupt.h"

namespace stoker {
namespace {

// What cannot go on is ended: waits for data, evaluations; in the end the process, which would
// otherwise stay for ever.
MonitorHooks EndWithOthers() {
  return {.on_fault = EndLongWork,
          .on_unheard =
              [](const Status& fault) {
                Log(LogLevel::kError,
                    fmt::format("{}; this process does not answer, and is ended", fault.message()));
                ::_exit(kExitFailed);
              },
          .stops = [] { return InterruptSignal() != 0; },
          .on_stop = EndLongWork};
}

Result<Json> Describe(const Recipe& recipe, bool resume) {
  STOKER_ASSIGN_OR_RETURN(Json marks, MarkData(recipe.data));
  return Json{{"version", STOKER_VERSION},
              {"resume", resume},
              {"recipe", ToYaml(recipe.Filled())},
              {"learned", recipe.data.learned ? recipe.data.learned->ChecksumOfValues() : ""},
              {"data", std::move(marks)}};
}

// Of a machine, not of the run.
bool MayDiffer(std::string_view difference) {
  const std::string_view key = difference.substr(0, difference.find(':'));
  return key == "data.root" || (key.starts_with("plugins.") && key.ends_with(".file"));
}

// What is otherwise here than at rank 0.
Result<std::vector<std::string>> Compare(const Json& first, const Json& mine,
                                         const Recipe& recipe) {
  if (first["version"] != mine["version"]) {
    return std::vector<std::string>{
        fmt::format("version: {} -> {}", first["version"].dump(), mine["version"].dump())};
  }
  std::vector<std::string> found;
  if (first["resume"] != mine["resume"])
    found.push_back(
        fmt::format("--resume: {} -> {}", first["resume"].dump(), mine["resume"].dump()));
  STOKER_ASSIGN_OR_RETURN(const ConfigNode of_first,
                          ParseYaml(first["recipe"].get<std::string>(), "the recipe of rank 0"));
  const RecipeChanges recipes = CompareRecipes(of_first, recipe);
  for (const auto* list : {&recipes.of_weights, &recipes.harmless}) {
    for (const std::string& difference : *list) {
      if (!MayDiffer(difference)) found.push_back(difference);
    }
  }
  // Each rank has learned for itself.
  if (first["learned"] != mine["learned"])
    found.push_back("what stages learned from the training data (`auto`)");
  const DataChanges data = CompareData(first["data"], mine["data"], recipe);
  for (const auto* list : {&data.of_weights, &data.warnings})
    found.insert(found.end(), list->begin(), list->end());
  return found;
}

Status CheckLikeFirst(const Json& first, const Result<Json>& mine, const Recipe& recipe,
                      const Membership& member) {
  STOKER_RETURN_IF_ERROR(mine.status());
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> found, Compare(first, *mine, recipe));
  if (found.empty()) return OkStatus();
  return InvalidArgument(
      "rank {} does not train what rank 0 does: {}; start all with the same command, version, "
      "recipe and data",
      member.rank, fmt::join(found, "; "));
}

}  // namespace

Result<std::shared_ptr<Group>> JoinRanks(const DistributedOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const Membership member, FindMembership());
  if (member.alone()) return std::shared_ptr<Group>();
  // c10d writes to connections that the other side may have closed.
  ::signal(SIGPIPE, SIG_IGN);
  const std::chrono::duration<double> timeout(options.timeout);
  STOKER_ASSIGN_OR_RETURN(
      std::unique_ptr<Group> group,
      JoinGroup(member, {.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout),
                         .hooks = EndWithOthers()}));
  return std::shared_ptr<Group>(std::move(group));
}

Status CheckAlike(Group& group, const Recipe& recipe, bool resume) {
  constexpr std::string_view kWhat = "comparing what the ranks train";
  const Result<Json> mine = Describe(recipe, resume);
  STOKER_RETURN_IF_ERROR(Agree(group, mine.status(), kWhat));
  STOKER_ASSIGN_OR_RETURN(const std::string first, TextOfFirst(group, mine->dump(), kWhat));
  return Agree(group, CheckLikeFirst(Json::parse(first), mine, recipe, group.membership()), kWhat);
}

Status ShareInterrupt(Group& group) {
  STOKER_ASSIGN_OR_RETURN(const int64_t number,
                          GreatestOf(group, InterruptSignal(), "the signal that ended the run"));
  NoteInterruptElsewhere(static_cast<int>(number));
  return OkStatus();
}

}  // namespace stoker
