#include "stoker/doctor/recipe_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace stoker {
namespace {

using Kind = ConfigNode::Kind;

constexpr size_t kNowhere = std::string_view::npos;

// Text to put at a place, instead of `length` bytes.
struct Splice {
  size_t at = 0, length = 0;
  std::string text;
};

std::vector<std::string_view> StepsOf(std::string_view path) {
  std::vector<std::string_view> steps;
  while (true) {
    const size_t dot = path.find('.');
    steps.push_back(path.substr(0, dot));
    if (dot == kNowhere) return steps;
    path.remove_prefix(dot + 1);
  }
}

// "{a: {b: value}}" for the steps a, b.
std::string Nested(const std::vector<std::string_view>& steps, size_t from,
                   const std::string& value) {
  std::string text = value;
  for (size_t i = steps.size(); i-- > from;) text = fmt::format("{{{}: {}}}", steps[i], text);
  return text;
}

class Editor {
 public:
  explicit Editor(std::string_view text)
      : text_(text), newline_(text.find("\r\n") == kNowhere ? "\n" : "\r\n") {
    starts_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
  }

  // Each returns nothing if it cannot be done.
  std::optional<Splice> Set(const ConfigNode& root, const RecipeChange& change) const;
  std::optional<Splice> Insert(const ConfigNode& root, const RecipeChange& change) const;

 private:
  size_t OffsetOf(const ConfigLocation& place) const {
    const auto line = static_cast<size_t>(place.line);
    if (line < 1 || line > starts_.size()) return kNowhere;
    const size_t at = starts_[line - 1] + static_cast<size_t>(place.column) - 1;
    return at < text_.size() ? at : kNowhere;
  }
  // The text of line `line`, from 1, without its end.
  std::string_view Line(size_t line) const {
    const size_t begin = starts_[line - 1];
    const size_t end = line < starts_.size() ? starts_[line] : text_.size();
    std::string_view all = text_.substr(begin, end - begin);
    while (!all.empty() && (all.back() == '\n' || all.back() == '\r')) all.remove_suffix(1);
    return all;
  }
  // Where the line after `line` begins, and what must precede text that is put there.
  size_t After(size_t line) const { return line < starts_.size() ? starts_[line] : text_.size(); }
  std::string Break(size_t at) const {
    return at > 0 && text_[at - 1] != '\n' ? newline_ : std::string();
  }

  std::optional<size_t> TokenEnd(size_t at) const;
  std::optional<size_t> Closing(size_t at) const;
  // Of an item of a block list, from 1: with the comments before it, and without.
  struct Lines {
    size_t first = 0, item = 0, last = 0;
    size_t dash = 0;  // its column, from 0
  };
  size_t LastLineOfItem(size_t line, size_t dash) const;
  std::optional<Lines> LinesOf(const ConfigNode& item) const;
  std::optional<Splice> Replace(const ConfigNode& node, std::string value) const;
  std::optional<Splice> AddKey(const ConfigNode& map, const ConfigLocation* parent,
                               std::string_view key, const std::string& value) const;
  std::optional<Splice> InsertInBlock(const ConfigNode& list, const RecipeChange& change) const;
  std::optional<Splice> InsertInFlow(const ConfigNode& list, size_t open,
                                     const RecipeChange& change) const;

  const std::string_view text_;
  const std::string newline_;
  std::vector<size_t> starts_;  // of lines
};

// The end of the scalar at `at`. What is read too far or too short here, the check of the result
// finds.
std::optional<size_t> Editor::TokenEnd(size_t at) const {
  const char quote = text_[at];
  if (quote == '"' || quote == '\'') {
    for (size_t i = at + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\')
        ++i;
      else if (text_[i] == quote)
        return i + 1;
    }
    return std::nullopt;
  }
  size_t end = at;
  for (; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '\n' || c == ',' || c == '}' || c == ']') break;
    if (c == '#' && end > at && text_[end - 1] == ' ') break;
    if (c == ':' && (end + 1 == text_.size() || text_[end + 1] == ' ' || text_[end + 1] == '\n'))
      return std::nullopt;
  }
  while (end > at && (text_[end - 1] == ' ' || text_[end - 1] == '\r' || text_[end - 1] == '\t'))
    --end;
  return end;
}

// The bracket that closes the one at `at`.
std::optional<size_t> Editor::Closing(size_t at) const {
  int depth = 0;
  for (size_t i = at; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"' || c == '\'') {
      const std::optional<size_t> end = TokenEnd(i);
      if (!end) return std::nullopt;
      i = *end - 1;
    } else if (c == '#' && i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\n')) {
      i = text_.find('\n', i);
      if (i == kNowhere) return std::nullopt;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<Splice> Editor::Replace(const ConfigNode& node, std::string value) const {
  const size_t at = OffsetOf(node.location);
  if (node.kind != Kind::kScalar || at == kNowhere) return std::nullopt;
  const std::optional<size_t> end = TokenEnd(at);
  if (!end) return std::nullopt;
  return Splice{.at = at, .length = *end - at, .text = std::move(value)};
}

// A key of a section that has others. `parent` is the place of the section's own key; null for the
// recipe itself, whose new sections come last.
std::optional<Splice> Editor::AddKey(const ConfigNode& map, const ConfigLocation* parent,
                                     std::string_view key, const std::string& value) const {
  const size_t at = OffsetOf(map.location);
  if (at != kNowhere && text_[at] == '{') {
    return Splice{.at = at + 1,
                  .text = fmt::format("{}: {}{}", key, value, map.entries.empty() ? "" : ", ")};
  }
  if (parent == nullptr) {
    return Splice{.at = text_.size(),
                  .text = fmt::format("{}{}: {}{}", Break(text_.size()), key, value, newline_)};
  }
  if (map.entries.empty() || map.entries[0].key_location.line <= parent->line) return std::nullopt;
  const int indent = map.entries[0].key_location.column - 1;
  const size_t next = After(static_cast<size_t>(parent->line));
  return Splice{
      .at = next,
      .text = fmt::format("{}{:{}}{}: {}{}", Break(next), "", indent, key, value, newline_)};
}

// The item of `list` that `step` names: by number or by operator; SetByPath does the same.
const ConfigNode* ItemOf(const ConfigNode& list, std::string_view step, bool& by_number) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  by_number = error == std::errc() && end == step.data() + step.size();
  if (by_number) return index < list.items.size() ? &list.items[index] : nullptr;
  for (const ConfigNode& item : list.items) {
    const bool is_it =
        item.kind == Kind::kScalar ? item.scalar == step : item.Find(step) != nullptr;
    if (is_it) return &item;
  }
  return nullptr;
}

std::optional<Splice> Editor::Set(const ConfigNode& root, const RecipeChange& change) const {
  const std::vector<std::string_view> steps = StepsOf(change.key);
  const ConfigNode* node = &root;
  const ConfigLocation* parent = nullptr;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (node->kind == Kind::kList) {
      bool by_number = false;
      node = ItemOf(*node, steps[i], by_number);
      if (node == nullptr) return std::nullopt;
      parent = &node->location;
      if (by_number) continue;
    }
    // A bare name becomes a map: `batch` with batch.size.
    if (node->kind == Kind::kScalar && node->scalar == steps[i] && i + 1 < steps.size())
      return Replace(*node, fmt::format("{}: {}", steps[i], Nested(steps, i + 1, change.value)));
    if (node->kind != Kind::kMap) return std::nullopt;
    const ConfigNode* const child = node->Find(steps[i]);
    if (child == nullptr)
      return AddKey(*node, parent, steps[i], Nested(steps, i + 1, change.value));
    for (const ConfigNode::Entry& entry : node->entries)
      if (entry.key == steps[i]) parent = &entry.key_location;
    node = child;
  }
  return Replace(*node, change.value);
}

// The last line that belongs to the list's item whose first line is `line` and whose dash stands in
// column `dash`, from 0.
size_t Editor::LastLineOfItem(size_t line, size_t dash) const {
  size_t last = line;
  for (size_t i = line + 1; i <= starts_.size(); ++i) {
    const std::string_view text = Line(i);
    const size_t first = text.find_first_not_of(" \t");
    if (first == kNowhere || text[first] == '#') continue;
    if (first <= dash) break;
    last = i;
  }
  return last;
}

// The lines of a block list's item, with the comments directly before it.
std::optional<Editor::Lines> Editor::LinesOf(const ConfigNode& item) const {
  const auto line = static_cast<size_t>(item.location.line);
  if (line < 1 || line > starts_.size()) return std::nullopt;
  const size_t dash = Line(line).find_first_not_of(' ');
  if (dash == kNowhere || Line(line)[dash] != '-') return std::nullopt;
  Lines lines{.first = line, .item = line, .last = LastLineOfItem(line, dash), .dash = dash};
  while (lines.first > 1) {
    const std::string_view before = Line(lines.first - 1);
    const size_t begin = before.find_first_not_of(' ');
    if (begin != dash || before[begin] != '#') break;
    --lines.first;
  }
  return lines;
}

std::optional<Splice> Editor::InsertInBlock(const ConfigNode& list,
                                            const RecipeChange& change) const {
  const auto target = LinesOf(list.items[static_cast<size_t>(std::max(0, change.after))]);
  if (!target) return std::nullopt;
  const std::string made = fmt::format("{:{}}- {}{}", "", target->dash, change.value, newline_);
  if (change.after < 0) return Splice{.at = starts_[target->item - 1], .text = made};
  const size_t next = After(target->last);
  if (change.move < 0) return Splice{.at = next, .text = Break(next) + made};
  const auto moved = LinesOf(list.items[static_cast<size_t>(change.move)]);
  if (!moved) return std::nullopt;
  // What lies between both, then the new stage, then the one that moves.
  const size_t begin = starts_[moved->first - 1], end = After(moved->last);
  std::string text(text_.substr(end, next - end));
  text += Break(next) + made;
  text += text_.substr(begin, end - begin);
  return Splice{.at = begin, .length = next - begin, .text = std::move(text)};
}

std::optional<Splice> Editor::InsertInFlow(const ConfigNode& list, size_t open,
                                           const RecipeChange& change) const {
  const auto place = [&](int number) {
    return OffsetOf(list.items[static_cast<size_t>(number)].location);
  };
  size_t at = kNowhere;
  const bool last = static_cast<size_t>(change.after + 1) == list.items.size();
  if (last) {
    std::optional<size_t> end = Closing(open);
    if (!end) return std::nullopt;
    while (*end > open && std::string_view(" \t\r\n").find(text_[*end - 1]) != kNowhere) --*end;
    at = *end;
  } else {
    at = place(change.after + 1);
  }
  if (at == kNowhere) return std::nullopt;
  std::string made = change.value;
  if (change.move < 0) return Splice{.at = at, .text = last ? ", " + made : made + ", "};
  const size_t begin = place(change.move), end = place(change.move + 1);
  if (begin == kNowhere || end == kNowhere || end > at) return std::nullopt;
  std::string moved(text_.substr(begin, end - begin));  // with its comma
  moved.erase(moved.find_last_of(',') == kNowhere ? moved.size() : moved.find_last_of(','));
  made += ", " + moved;
  std::string text(text_.substr(end, at - end));
  text += last ? ", " + made : made + ", ";
  return Splice{.at = begin, .length = at - begin, .text = std::move(text)};
}

std::optional<Splice> Editor::Insert(const ConfigNode& root, const RecipeChange& change) const {
  const ConfigNode* list = &root;
  for (const std::string_view step : StepsOf(change.key))
    if (list != nullptr) list = list->Find(step);
  if (list == nullptr || list->kind != Kind::kList || list->items.empty() ||
      change.after >= static_cast<int>(list->items.size()) ||
      (change.move >= 0 && change.move >= change.after)) {
    return std::nullopt;
  }
  const size_t at = OffsetOf(list->location);
  if (at == kNowhere) return std::nullopt;
  return text_[at] == '[' ? InsertInFlow(*list, at, change) : InsertInBlock(*list, change);
}

}  // namespace

Status ApplyChange(ConfigNode& recipe, const RecipeChange& change) {
  if (change.kind == RecipeChange::Kind::kSet)
    return SetByPath(recipe, fmt::format("{}={}", change.key, change.value));
  ConfigNode* list = &recipe;
  for (const std::string_view step : StepsOf(change.key))
    if (list != nullptr) list = list->Find(step);
  STOKER_ASSIGN_OR_RETURN(ConfigNode stage, ParseYaml(change.value, "the change"));
  const auto behind = list->items.begin() + change.after + 1;
  const auto place = list->items.insert(behind, std::move(stage));
  if (change.move >= 0) {
    const auto moved = list->items.begin() + change.move;
    std::rotate(moved, moved + 1, place + 1);
  }
  return OkStatus();
}

Result<std::string> EditRecipe(std::string_view text, std::string_view name,
                               const RecipeChange& change) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode root, ParseYaml(text, name));
  const Editor editor(text);
  const std::optional<Splice> splice = change.kind == RecipeChange::Kind::kSet
                                           ? editor.Set(root, change)
                                           : editor.Insert(root, change);
  const Status failed = FailedPrecondition(
      "{}: `{}` cannot be written into it without a change of other lines; "
      "write it by hand",
      name, change.ToText());
  if (!splice) return failed;
  std::string edited(text);
  edited.replace(splice->at, splice->length, splice->text);
  STOKER_RETURN_IF_ERROR(ApplyChange(root, change));
  const Result<ConfigNode> again = ParseYaml(edited, name);
  if (!again.ok() || !Differences(root, *again).empty()) return failed;
  return edited;
}

}  // namespace stoker
