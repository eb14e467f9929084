// RecipeChange: one change of a recipe, as a prescription names it and as recipe_edit.h makes it.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

struct RecipeChange {
  enum class Kind {
    kSet,          // `key: value`, in place of what stands there, or added
    kInsertStage,  // the stage `value` after stage number `after` of the list `key`
  };

  Kind kind = Kind::kSet;
  std::string key;    // a dotted path: "train.feed_threads", "data.train.3.batch.size"
  std::string value;  // YAML: "auto", "64", "cache"
  int after = -1;     // of kInsertStage: from 0; -1: before all others
  // Of kInsertStage: this stage, one before `after`, moves after the new one; -1: none. A `cache`
  // needs that of a `shuffle`, because it cannot keep what comes in another order each time.
  int move = -1;

  static RecipeChange Set(std::string key, std::string value) {
    return {.kind = Kind::kSet, .key = std::move(key), .value = std::move(value)};
  }
  static RecipeChange Insert(std::string list, int after, std::string stage, int move = -1) {
    return {.kind = Kind::kInsertStage,
            .key = std::move(list),
            .value = std::move(stage),
            .after = after,
            .move = move};
  }

  bool operator==(const RecipeChange&) const = default;

  // Returns "train.feed_threads: auto", or "data.train: `cache` after stage 2 (decode), and stage 1
  // (shuffle) after it".
  //   stages  the names of the list's stages; may be empty
  std::string ToText(const std::vector<std::string>& stages = {}) const;
  Json ToJson() const;

  // Returns the same change for a recipe in which `made` was made first: an inserted stage moves
  // the numbers of those after it.
  RecipeChange AfterInserting(const RecipeChange& made) const;
};

}  // namespace stoker
