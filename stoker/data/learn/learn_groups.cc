#include "stoker/data/learn/learn_groups.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/named_kind.h"
#include "stoker/data/learn/training_requests.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/split.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

// Whether a value in `node` is the name of one of the fields, or of what becomes of it.
bool Names(const ConfigNode& node, const std::vector<LearnRequest>& requests) {
  const auto is_named = [&](const ConfigNode& inner) { return Names(inner, requests); };
  const auto is_of = [&](const LearnRequest& request) {
    return node.scalar == request.field ||
           (!request.output.empty() && node.scalar == request.output);
  };
  return (node.kind == ConfigNode::Kind::kScalar && std::ranges::any_of(requests, is_of)) ||
         std::ranges::any_of(node.items, is_named) ||
         std::ranges::any_of(node.entries, [&](const ConfigNode::Entry& entry) {
           return entry.key != "side" && is_named(entry.value);
         });
}

// Whether a stage depends on none of the fields that the requests are about: it works on one other
// field, or is left out, or decides by other fields on which side a sample is.
Result<bool> IsIndependent(const ConfigNode& item, const std::vector<LearnRequest>& requests,
                           const std::filesystem::path& root) {
  if (IsEntryOfTraining(item)) return true;  // it changes nothing
  STOKER_ASSIGN_OR_RETURN(const OperatorRegistry::Configured stage, ParseStage(item, root));
  if (IsLeftOut(stage.name)) return true;
  const ConfigNode& options = stage.node.entries.front().value;
  if (Names(options, requests)) return false;
  const ConfigNode* const field = options.Find("field");
  return stage.name == Split::kName ||
         (field != nullptr && field->kind == ConfigNode::Kind::kScalar);
}

// The place of the last `split`; nothing if there is none.
std::optional<size_t> PlaceOfSplit(const ConfigNode& list) {
  for (size_t i = list.items.size(); i-- > 0;) {
    if (NamedKind(list.items[i]) == Split::kName) return i;
  }
  return std::nullopt;
}

// What stands between a stage that learns and the split.
Status CheckUpToSplit(const ConfigNode& list, const LearnGroup& group, size_t split,
                      const std::filesystem::path& root) {
  const LearnRequest& first = group.requests.front();
  for (size_t i = first.place + 1; i <= split; ++i) {
    const bool learns = std::ranges::count(group.requests, i, &LearnRequest::place) > 0;
    if (learns) continue;
    std::vector<LearnRequest> before;  // what stands after the stage changes nothing for it
    std::ranges::copy_if(group.requests, std::back_inserter(before),
                         [&](const LearnRequest& request) { return request.place < i; });
    bool independent = false;
    if (!OperatorRegistry::Known().Asks(list.items[i])) {
      STOKER_ASSIGN_OR_RETURN(independent, IsIndependent(list.items[i], before, root));
    }
    if (independent) continue;
    return InvalidArgument(
        "{}: {}: {} is auto before the split, but {} ({}) may depend on what it makes, so it is "
        "not known which samples are for training while it learns; put it after the split, in "
        "data.train and in data.eval",
        list.items[first.place].location.ToString(), first.stage, first.option,
        NamedKind(list.items[i]), list.items[i].location.ToString());
  }
  return OkStatus();
}

}  // namespace

bool IsLeftOut(std::string_view name) {
  return name == Shuffle::kName || name == Cache::kName || name == Repeat::kName ||
         name == Prefetch::kName;
}

Result<LearnGroup> NextGroup(const ConfigNode& list, const std::vector<LearnRequest>& requests,
                             const std::filesystem::path& root) {
  LearnGroup group{.requests = {requests.front()}};
  size_t at = requests.front().place + 1;
  for (size_t next = 1; next < requests.size(); ++next) {
    const LearnRequest& request = requests[next];
    bool independent = std::ranges::count(group.requests, request.field, &LearnRequest::field) == 0;
    for (; independent && at < request.place; ++at) {
      STOKER_ASSIGN_OR_RETURN(independent, IsIndependent(list.items[at], group.requests, root));
    }
    if (!independent) break;
    group.requests.push_back(request);
    at = request.place + 1;
  }
  group.end = group.requests.back().place;
  const std::optional<size_t> split = PlaceOfSplit(list);
  if (!split || *split < group.requests.front().place) return group;
  STOKER_RETURN_IF_ERROR(CheckUpToSplit(list, group, *split, root));
  group.end = std::max(group.end, *split + 1);
  return group;
}

}  // namespace stoker
