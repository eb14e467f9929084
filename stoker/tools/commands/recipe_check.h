// What `stoker check` finds in a recipe, for people and for programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/recipe/data_check.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// One mistake and where it stands.
struct RecipeFinding {
  std::string file;  // the recipe, or "--set train.epochs" for a value from the command line
  int line = 0;      // from 1; 0 where it stands in no file
  int column = 0;
  std::string message;

  std::string ToText() const;  // "recipe.yaml:12:5: batch.size is 0; it must be >= 1"
  Json ToJson() const;         // {"file", "line", "column", "message"}; null where it has no line
  bool operator==(const RecipeFinding&) const = default;
};

// Collects findings, and what could not be looked at.
class RecipeCheck {
 public:
  //   path    of the recipe, as messages name it
  //   recipe  as it was read; it says where a section stands
  RecipeCheck(std::string path, const ConfigNode& recipe);

  // Adds every error in `status` (base/problems.h) that is not there already. One that names no
  // place stands where the keys stand that it speaks of ("data.eval gives no batch"), or else where
  // `section` does.
  void Add(const Status& status, std::string_view section);

  // The same, but what names no place stands at `place`, whatever keys its messages speak of.
  void AddAt(const Status& status, const ConfigLocation& place);

  // Adds what is no mistake but may not be meant, by the key that it speaks of.
  void Warn(const std::string& message);

  // Says that something was not looked at, and why.
  void NotChecked(std::string what) { not_checked_.push_back(std::move(what)); }

  bool clean() const { return findings_.empty(); }

  // In the order of the file. The result's `damage` says how many there are.
  Inspection Report() const;

 private:
  // A place of the recipe that the message itself names.
  std::optional<RecipeFinding> FindNamedPlace(const std::string& message) const;
  RecipeFinding FindingAt(const ConfigLocation& place, const std::string& message) const;
  RecipeFinding Located(const std::string& message, std::string_view section) const;
  void AddFinding(RecipeFinding finding);

  const std::string path_;
  const ConfigNode& recipe_;
  std::vector<RecipeFinding> findings_, warnings_;
  std::vector<std::string> not_checked_;
};

// The sections' names, the keys of `data`, its pipelines, their sources and a first batch of each.
// Returns what of them could be made.
CheckedData CheckData(const ConfigNode& recipe, const std::filesystem::path& folder,
                      RecipeCheck& check);

}  // namespace stoker
