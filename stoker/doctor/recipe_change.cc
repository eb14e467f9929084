#include "stoker/doctor/recipe_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace stoker {
namespace {

// "stage 2 (decode)"
std::string Named(const std::vector<std::string>& stages, int number) {
  const auto at = static_cast<size_t>(number);
  return fmt::format("stage {}{}", number + 1,
                     at < stages.size() ? fmt::format(" ({})", stages[at]) : "");
}

}  // namespace

std::string RecipeChange::ToText(const std::vector<std::string>& stages) const {
  if (kind == Kind::kSet) return fmt::format("{}: {}", key, value);
  if (after < 0) return fmt::format("{}: `{}` as the first stage", key, value);
  return fmt::format("{}: `{}` after {}{}", key, value, Named(stages, after),
                     move < 0 ? "" : fmt::format(", and {} after it", Named(stages, move)));
}

Json RecipeChange::ToJson() const {
  if (kind == Kind::kSet) return {{"set", key}, {"value", value}};
  return {{"insert", value}, {"list", key}, {"after", after}, {"move", move}};
}

RecipeChange RecipeChange::AfterInserting(const RecipeChange& made) const {
  RecipeChange moved = *this;
  if (made.kind != Kind::kInsertStage) return moved;
  if (kind == Kind::kInsertStage) {
    if (key == made.key && after >= made.after) ++moved.after;
    return moved;
  }
  const std::string list = made.key + ".";
  if (!key.starts_with(list)) return moved;
  const size_t end = key.find('.', list.size());
  int number = 0;
  const auto [parsed, error] =
      std::from_chars(key.data() + list.size(), key.data() + std::min(end, key.size()), number);
  if (error != std::errc() || number <= made.after) return moved;
  moved.key = list + std::to_string(number + 1) + (end == key.npos ? "" : key.substr(end));
  return moved;
}

}  // namespace stoker
