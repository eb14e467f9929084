#include "stoker/data/learn/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/options.h"
#include "stoker/data/learn/training_requests.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

// An option of a stage as it is written, or its default; empty if the operator has none.
//   kinds  of all operators
std::string OptionOf(const ConfigNode& options, std::string_view stage, std::string_view option,
                     const std::vector<KindDescription>& kinds) {
  if (const ConfigNode* const written = options.Find(option)) return written->scalar;
  const auto kind = std::ranges::find(kinds, stage, &KindDescription::name);
  const ConfigNode* const value = kind == kinds.end() ? nullptr : kind->defaults.Find(option);
  return value == nullptr ? std::string() : value->scalar;
}

ConfigNode NodeOf(const Json& option) {
  std::vector<ConfigNode> items;
  for (const Json& one : option) {
    items.push_back(one.is_string() ? ConfigNode::Scalar(one.get<std::string>(), /*quoted=*/true)
                                    : WriteOption(one.get<double>()));
  }
  return ConfigNode::List(std::move(items));
}

std::optional<AskedStage> AskedIn(const ConfigNode& entry) {
  if (IsEntryOfTraining(entry)) {
    const std::string& stage = entry.entries.front().key;
    return AskedStage{stage, std::string(AskingOption(stage))};
  }
  return OperatorRegistry::Known().Asks(entry);
}

// Sets an option of a stage that is written as {name: auto} or {name: {option: auto, ...}}.
void SetOption(ConfigNode& options, const std::string& first, const std::string& key,
               ConfigNode value) {
  if (options.kind != ConfigNode::Kind::kMap) {
    const ConfigLocation at = options.location;
    options = ConfigNode::Map({{first, at, options}});
    options.location = at;
  }
  if (ConfigNode* const set = options.Find(key)) {
    value.location = set->location;
    *set = std::move(value);
    return;
  }
  value.location = options.location;
  options.entries.push_back({key, options.location, std::move(value)});
}

}  // namespace

std::vector<LearnRequest> FindLearnRequests(const ConfigNode& list) {
  std::vector<LearnRequest> requests;
  if (list.kind != ConfigNode::Kind::kList) return requests;
  std::vector<KindDescription> kinds;  // made once, and only where a stage asks
  for (size_t i = 0; i < list.items.size(); ++i) {
    const std::optional<AskedStage> asked = AskedIn(list.items[i]);
    if (!asked) continue;
    if (kinds.empty()) kinds = OperatorRegistry::Known().Describe();
    const ConfigNode& options = *list.items[i].Find(asked->stage);
    LearnRequest request{.place = i,
                         .stage = asked->stage,
                         .option = asked->option,
                         .field = OptionOf(options, asked->stage, "field", kinds),
                         .output = OptionOf(options, asked->stage, "output", kinds)};
    request.which += std::ranges::count_if(requests, [&](const LearnRequest& other) {
      return other.stage == request.stage && other.field == request.field;
    });
    requests.push_back(std::move(request));
  }
  return requests;
}

ConfigNode FilledStage(const ConfigNode& stage, const LearnRequest& request,
                       const LearnedValue& value) {
  ConfigNode filled = stage;
  ConfigNode& options = *filled.Find(request.stage);
  for (const auto& [option, learned] : value.options.items())
    SetOption(options, request.option, option, NodeOf(learned));
  return filled;
}

Result<ConfigNode> FillInLearned(const ConfigNode& list, const Learned* learned) {
  ConfigNode filled = list;
  for (const LearnRequest& request : FindLearnRequests(list)) {
    const LearnedValue* const value =
        learned == nullptr ? nullptr : learned->Find(request.stage, request.field, request.which);
    if (value == nullptr) {
      return InvalidArgument(
          "{}: {}: {} is auto, but nothing was learned for such a stage of the field '{}'{}; write "
          "the same stage there, or give values here",
          list.items[request.place].location.ToString(), request.stage, request.option,
          request.field,
          learned != nullptr && learned->from.contains("file")
              ? fmt::format(": {} has none", learned->from["file"].get<std::string>())
              : ": data.train has none");
    }
    filled.items[request.place] = FilledStage(list.items[request.place], request, *value);
  }
  return filled;
}

ConfigNode PutBackRequests(const ConfigNode& list, ConfigNode filled) {
  if (filled.kind != ConfigNode::Kind::kList) return filled;
  for (const LearnRequest& request : FindLearnRequests(list)) {
    if (request.place >= filled.items.size()) continue;
    ConfigNode* const options = filled.items[request.place].Find(request.stage);
    if (options == nullptr) continue;
    for (const std::string_view option : OperatorRegistry::Known().LearnedOptions(request.stage)) {
      if (ConfigNode* const value = options->Find(option)) *value = ConfigNode::Scalar("auto");
    }
  }
  return filled;
}

}  // namespace stoker
