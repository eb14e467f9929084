#include "stoker/base/registry.h"

#include <algorithm>

#include "stoker/base/foreign_names.h"
#include "stoker/base/short_text.h"
#include "stoker/base/unloaded_kinds.h"

namespace stoker {
namespace {

// The entry's name and its place; options as they follow it.
struct Split {
  ConfigLocation name_location;
  NamedOptions named;
};

Result<Split> SplitEntry(const ConfigNode& node, std::string_view noun) {
  if (node.kind == ConfigNode::Kind::kScalar) {
    ConfigNode no_options;
    no_options.location = node.location;
    return Split{node.location, {node.scalar, std::move(no_options)}};
  }
  if (node.kind == ConfigNode::Kind::kMap && node.entries.size() == 1) {
    const ConfigNode::Entry& entry = node.entries[0];
    return Split{entry.key_location, {entry.key, entry.value}};
  }
  const auto added = std::ranges::find_if(
      node.entries, [](const ConfigNode::Entry& entry) { return entry.key_location.line == 0; });
  if (node.entries.size() > 1 && added != node.entries.end()) {
    const ConfigNode::Entry& beside = node.entries[added == node.entries.begin() ? 1 : 0];
    return InvalidArgument(
        "{}: '{}' would stand beside '{}', which {} names, but only one {} is taken; to replace "
        "it, set it whole, as in KEY='{{{}: {{OPTION: VALUE}}}}'",
        added->key_location.ToString(), added->key, beside.key, beside.key_location.ToString(),
        noun, added->key);
  }
  std::string found(node.KindName());
  if (node.entries.size() > 1) {
    found =
        fmt::format("a map with the keys '{}' and '{}'; do options stand deeper than their name?",
                    ShortText(node.entries[0].key), ShortText(node.entries[1].key));
  }
  return InvalidArgument("{}: wanted the name of the {}, or `name: {{options}}`; found {}",
                         node.location.ToString(), noun, found);
}

}  // namespace

Result<NamedOptions> SplitNamedOptions(const ConfigNode& node, std::string_view noun,
                                       const std::vector<std::string>& names) {
  STOKER_ASSIGN_OR_RETURN(Split split, SplitEntry(node, noun));
  const std::string& name = split.named.name;
  if (std::find(names.begin(), names.end(), name) != names.end()) return std::move(split.named);
  if (const std::string_view advice = AdviceOfUnloadedPlugins(); !advice.empty()) {
    const std::string nearest = RecipeNameAdvice(name, names);
    return InvalidArgument("{}: {} '{}' is not known: {}{}", split.name_location.ToString(), noun,
                           ShortText(name), nearest.starts_with("did you") ? nearest + " Or " : "",
                           advice);
  }
  return InvalidArgument("{}: unknown {} '{}'; {}; `stoker inspect {}` lists all",
                         split.name_location.ToString(), noun, ShortText(name),
                         RecipeNameAdvice(name, names), noun == "operator" ? "--ops" : "--models");
}

}  // namespace stoker
