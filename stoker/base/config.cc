#include "stoker/base/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "stoker/base/config_scalar.h"
#include "stoker/base/foreign_names.h"
#include "stoker/base/problems.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

constexpr size_t kMostListed = 16;  // names, in an error

// Edits (insert, delete, change, swap of neighbours) that turn a into b: the optimal string
// alignment distance.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string ConfigLocation::ToString() const {
  if (file == nullptr) return "(set in code)";
  return line == 0 ? *file : fmt::format("{}:{}:{}", *file, line, column);
}

ConfigNode ConfigNode::Scalar(std::string text, bool quoted) {
  ConfigNode node;
  node.kind = Kind::kScalar;
  node.scalar = std::move(text);
  node.quoted = quoted;
  return node;
}

ConfigNode ConfigNode::List(std::vector<ConfigNode> items) {
  ConfigNode node;
  node.kind = Kind::kList;
  node.items = std::move(items);
  return node;
}

ConfigNode ConfigNode::Map(std::vector<Entry> entries) {
  ConfigNode node;
  node.kind = Kind::kMap;
  node.entries = std::move(entries);
  return node;
}

const ConfigNode* ConfigNode::Find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

ConfigNode* ConfigNode::Find(std::string_view key) {
  return const_cast<ConfigNode*>(std::as_const(*this).Find(key));
}

void ConfigNode::Erase(std::string_view key) {
  std::erase_if(entries, [&](const Entry& entry) { return entry.key == key; });
}

std::string_view ConfigNode::KindName() const {
  switch (kind) {
    case Kind::kNull: return "nothing";
    case Kind::kList: return "a list";
    case Kind::kMap: return "a map";
    case Kind::kScalar: break;
  }
  if (quoted) return "text";
  if (LooksLikeBool(scalar)) return "true or false";
  return LooksLikeNumber(scalar) ? "a number" : "text";
}

bool LooksLikeBool(std::string_view text) {
  return text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" ||
         text == "FALSE";
}

bool LooksLikeNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double ignored = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  // "inf" and "nan" are read by from_chars, but are words here.
  return error != std::errc::invalid_argument && end == text.data() + text.size() &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

bool LooksLikeNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

Status CheckKeys(const ConfigNode& node, std::string_view what, std::string_view noun,
                 const std::vector<std::string>& names) {
  Problems problems;
  for (const ConfigNode::Entry& entry : node.entries) {
    if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
    problems.Add(InvalidArgument("{}: {}{}unknown {} '{}'; {}", entry.key_location.ToString(), what,
                                 what.empty() ? "" : ": ", noun, ShortText(entry.key),
                                 RecipeNameAdvice(entry.key, names)));
  }
  return problems.ToStatus();
}

namespace {

// Returns the first letters of the words of a name: "ce" for cross_entropy.
std::string InitialsOf(std::string_view name) {
  std::string initials;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i == 0 || name[i - 1] == '_') initials += name[i];
  }
  return initials;
}

// Returns the one name that has these initials; empty if none has, or several have.
std::string NameOfInitials(std::string_view wanted, const std::vector<std::string>& names) {
  if (wanted.size() < 2) return {};
  const auto has = [&](const std::string& name) { return InitialsOf(name) == wanted; };
  return std::ranges::count_if(names, has) == 1 ? *std::ranges::find_if(names, has) : std::string();
}

}  // namespace

std::string NameAdvice(std::string_view wanted, const std::vector<std::string>& names) {
  if (names.empty()) return "there are none";
  std::string nearest = NameOfInitials(wanted, names);
  if (nearest.empty()) nearest = NearestName(wanted, names);
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", ShortText(nearest));
  const auto list = [](const std::vector<std::string>& some) {
    std::vector<std::string> shortened;
    for (const std::string& name : some) shortened.push_back(ShortText(name));
    return fmt::format("known are {}", fmt::join(shortened, ", "));
  };
  if (names.size() <= kMostListed) return list(names);
  std::vector<std::string> listed = names;
  // Names that have it as a part come first: 'center_crop' for 'crop'.
  // (clang 14, which builds the fuzzers, cannot compile std::ranges::stable_partition.)
  std::stable_partition(listed.begin(), listed.end(), [&](const std::string& name) {
    return name.find(wanted) != std::string::npos || wanted.find(name) != std::string_view::npos;
  });
  const size_t more = listed.size() - kMostListed;
  listed.resize(kMostListed);
  return fmt::format("{} and {} more", list(listed), more);
}

std::string NearestName(std::string_view wanted, const std::vector<std::string>& names) {
  const size_t limit = std::max<size_t>(1, wanted.size() / 3);
  // A name that shares nothing is never near.
  size_t nearest_distance = std::min(limit + 1, wanted.size());
  std::string nearest;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(wanted, name);
    if (distance >= nearest_distance) continue;
    nearest_distance = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace stoker
