#include "stoker/data/recipe/recipe_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "stoker/base/problems.h"

namespace stoker {
namespace {

using Kind = ConfigNode::Kind;

bool IsOfKey(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// What can precede a key that begins here: not the rest of a longer word or of a path.
bool MayPrecedeKey(char c) {
  return !IsOfKey(c) && c != '/' && c != '-' && !(c >= 'A' && c <= 'Z');
}

// Whether the recipe has a key below a section for this path, as it has one for data.train.batch.
bool IsBelowASection(const ConfigNode& recipe, std::string_view path) {
  const size_t dot = path.find('.');
  const ConfigNode* const section = recipe.Find(path.substr(0, dot));
  const std::string_view key = path.substr(std::min(dot + 1, path.size()));
  return section != nullptr && section->Find(key.substr(0, key.find('.'))) != nullptr;
}

// A value that stands beside its key is the better place; a list or map begins at its key.
const ConfigLocation& PlaceOf(const ConfigNode::Entry& entry) {
  const bool beside = entry.value.kind == Kind::kScalar && entry.value.location.file != nullptr;
  return beside ? entry.value.location : entry.key_location;
}

bool HasPlace(const ConfigNode& recipe, std::string_view message) {
  return message.find(*recipe.location.file + ":") != std::string_view::npos ||
         message.find("--set ") != std::string_view::npos;
}

}  // namespace

ConfigLocation PlaceOfPath(const ConfigNode& recipe, std::string_view path) {
  ConfigLocation location = recipe.location;
  const ConfigNode* node = &recipe;
  while (node != nullptr && !path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    const auto entry = std::ranges::find(node->entries, key, &ConfigNode::Entry::key);
    if (entry == node->entries.end()) break;
    location = PlaceOf(*entry);
    node = &entry->value;
    path.remove_prefix(std::min(path.size(), key.size() + 1));
  }
  return location;
}

std::optional<ConfigLocation> PlaceOfKey(const ConfigNode& recipe, std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && !MayPrecedeKey(text[at - 1])) continue;
    const std::string_view rest = text.substr(at);
    const bool names_section =
        rest.starts_with("data.") || rest.starts_with("train.") || rest.starts_with("model.");
    if (!names_section) continue;
    const auto end = std::ranges::find_if_not(rest, IsOfKey);
    const std::string_view path(rest.begin(), end);
    // After a slash it may be the end of a path with blanks: "/data/my train.csv".
    if (text.substr(0, at).find('/') != std::string_view::npos && !IsBelowASection(recipe, path))
      continue;
    const ConfigLocation place = PlaceOfPath(recipe, path);
    if (place.line != recipe.location.line || place.column != recipe.location.column) return place;
  }
  return std::nullopt;
}

Status WithPlace(const ConfigNode& recipe, const Status& status) {
  if (status.ok() || recipe.location.file == nullptr) return status;
  Problems problems;
  for (std::string& message : ProblemsIn(status)) {
    const std::optional<ConfigLocation> place =
        HasPlace(recipe, message) ? std::nullopt : PlaceOfKey(recipe, message);
    if (place) message = fmt::format("{}: {}", place->ToString(), message);
    problems.Add({status.code(), std::move(message)});
  }
  return problems.ToStatus();
}

}  // namespace stoker
