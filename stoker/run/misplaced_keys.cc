#include "stoker/run/misplaced_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "stoker/base/problems.h"
#include "stoker/run/recipe.h"

namespace stoker {
namespace {

bool Has(const std::vector<Option>& options, std::string_view name) {
  return std::ranges::find(options, name, &Option::name) != options.end();
}

// The kind that the section names under `key`; otherwise the one that it has without.
std::string KindNamed(const ConfigNode& section, std::string_view key, std::string otherwise) {
  const ConfigNode* const node = section.Find(key);
  if (node == nullptr) return otherwise;
  if (node->kind == ConfigNode::Kind::kScalar) return node->scalar;
  return node->entries.size() == 1 ? node->entries[0].key : otherwise;
}

// "it belongs to the schedule: train: {schedule: {constant: {lr: 0.001}}}": of the kinds that have
// the option the one called `named`, else the first; empty if none has it.
std::string AmongKinds(const std::vector<KindDescription>& kinds, std::string_view noun,
                       const std::string& named, std::string_view option) {
  const KindDescription* home = nullptr;
  for (const KindDescription& kind : kinds) {
    if (!Has(kind.options, option)) continue;
    if (home == nullptr || kind.name == named) home = &kind;
  }
  if (home == nullptr) return "";
  return fmt::format("it belongs to the {0}: train: {{{0}: {{{1}: {{{2}: {3}}}}}}}", noun,
                     home->name, option, ToYamlLine(*home->defaults.Find(option)));
}

// "it belongs to clip: train: {clip: {norm: ...}}", where that section has the option.
template <typename T>
std::string InSection(std::string_view option) {
  if (!Has(OptionsOf<T>(), option)) return "";
  return fmt::format("it belongs to {0}: train: {{{0}: {{{1}: ...}}}}", T::kName, option);
}

std::string InOptimizers(const ConfigNode& section, std::string_view option) {
  return AmongKinds(OptimizerRegistry::Known().Describe(), "optimizer",
                    KindNamed(section, "optimizer", DefaultOptimizer().name), option);
}

// Where else than in an optimizer; empty if nowhere.
std::string HomeOf(const ConfigNode& section, std::string_view key) {
  if (key == "batch_size" || key == "batch") {
    return "it belongs to the pipeline: data: {train: [..., {batch: {size: 64}}]}";
  }
  const std::string_view option = key == "learning_rate" ? "lr" : key;
  for (std::string home :
       {InSection<ClipOptions>(option), InSection<CheckpointOptions>(option),
        InSection<EarlyStoppingOptions>(option), InSection<InitFromOptions>(option),
        AmongKinds(ScheduleRegistry::Known().Describe(), "schedule",
                   KindNamed(section, "schedule", DefaultSchedule().name), option)}) {
    if (!home.empty()) return home;
  }
  return "";
}

using FindHome = std::function<std::string(std::string_view key)>;

Status TakeOutOf(ConfigNode& node, std::string_view what, std::string_view noun,
                 const std::vector<std::string>& names, const FindHome& find) {
  Problems problems;
  std::erase_if(node.entries, [&](const ConfigNode::Entry& entry) {
    if (std::ranges::find(names, entry.key) != names.end()) return false;
    const std::string home = find(entry.key);
    if (home.empty()) return false;
    problems.Add(InvalidArgument("{}: {}: unknown {} '{}'; {}", entry.key_location.ToString(), what,
                                 noun, entry.key, home));
    return true;
  });
  return problems.ToStatus();
}

// `optimizer: {adamw: {lr: 0.1}}`
Status TakeOutOfOptimizer(ConfigNode& section) {
  ConfigNode* const node = section.Find("optimizer");
  if (node == nullptr || node->entries.size() != 1) return OkStatus();
  const std::string& name = node->entries[0].key;
  const std::vector<KindDescription> kinds = OptimizerRegistry::Known().Describe();
  const auto kind = std::ranges::find(kinds, name, &KindDescription::name);
  if (kind == kinds.end()) return OkStatus();
  std::vector<std::string> names;
  for (const Option& option : kind->options) names.push_back(option.name);
  return TakeOutOf(node->entries[0].value, name, "option", names,
                   [&](std::string_view key) { return HomeOf(section, key); });
}

}  // namespace

Status TakeOutMisplaced(ConfigNode& section, const std::vector<std::string>& names) {
  const ConfigNode written = section;
  Problems problems;
  problems.Add(TakeOutOf(section, "train", "key", names, [&](std::string_view key) {
    std::string home = HomeOf(written, key);
    return home.empty() ? InOptimizers(written, key) : home;
  }));
  problems.Add(TakeOutOfOptimizer(section));
  return problems.ToStatus();
}

}  // namespace stoker
