#include "stoker/tools/inspect/kind_help.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/tools/program/help_formatter.h"

namespace stoker {
namespace {

std::string DefaultText(const KindDescription& kind, const Option& option) {
  const ConfigNode* value = kind.defaults.Find(option.name);
  if (value == nullptr) return "";
  if (value->kind == ConfigNode::Kind::kList) {
    std::vector<std::string> items;
    for (const ConfigNode& item : value->items) items.push_back(item.scalar);
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  return value->scalar;
}

std::string OptionText(const KindDescription& kind, const Option& option) {
  std::string text = fmt::format("{}: {}", option.name, option.type);
  if (!option.constraint.empty()) text += ", " + option.constraint;
  const std::string value = DefaultText(kind, option);
  text += option.required ? ", required" : ", default " + (value.empty() ? "none" : value);
  return fmt::format("    {}\n        {}\n", WrapText(text, kHelpWidth, 6),
                     WrapText(option.help, kHelpWidth, 8));
}

std::string KindText(const KindDescription& kind) {
  std::string text = fmt::format("  {}\n      {}\n", kind.name, WrapText(kind.help, kHelpWidth, 6));
  for (const Option& option : kind.options) text += OptionText(kind, option);
  return text;
}

Json KindJson(const KindDescription& kind) {
  Json options = Json::array();
  for (const Option& option : kind.options) {
    Json json = {{"name", option.name},
                 {"type", option.type},
                 {"help", option.help},
                 {"required", option.required}};
    if (!option.constraint.empty()) json["range"] = option.constraint;
    if (!option.required) json["default"] = DefaultText(kind, option);
    options.push_back(std::move(json));
  }
  return {{"name", kind.name},
          {"group", kind.group},
          {"help", kind.help},
          {"options", std::move(options)}};
}

std::string PluralOf(const std::string& noun) { return noun + (noun.ends_with('s') ? "es" : "s"); }

Status CheckName(const std::vector<KindDescription>& kinds, const std::string& name,
                 const std::string& noun) {
  std::vector<std::string> names;
  for (const KindDescription& kind : kinds) {
    names.push_back(kind.name);
    if (std::ranges::find(names, kind.group) == names.end()) names.push_back(kind.group);
  }
  if (name.empty() || std::ranges::find(names, name) != names.end()) return OkStatus();
  return InvalidArgument("there is no {} '{}'; {}", noun, name, NameAdvice(name, names));
}

}  // namespace

Result<Inspection> DescribeKinds(const std::vector<KindDescription>& kinds, const std::string& name,
                                 const std::string& noun) {
  STOKER_RETURN_IF_ERROR(CheckName(kinds, name, noun));
  std::vector<std::string> groups;
  for (const KindDescription& kind : kinds) {
    if (std::ranges::find(groups, kind.group) == groups.end()) groups.push_back(kind.group);
  }
  Inspection out;
  out.json = Json::array();
  for (const std::string& group : groups) {
    std::string text;
    for (const KindDescription& kind : kinds) {
      if (kind.group != group || (!name.empty() && kind.name != name && group != name)) continue;
      text += KindText(kind);
      out.json.push_back(KindJson(kind));
    }
    if (!text.empty()) out.text += fmt::format("{}\n{}", PluralOf(group), text);
  }
  return out;
}

}  // namespace stoker
