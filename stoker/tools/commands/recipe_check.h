// The findings of `stoker check` in a recipe, as text and as JSON.
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

// One mistake and its place.
struct RecipeFinding {
  std::string file;  // the recipe, or "--set train.epochs" for a value from the command line
  int line = 0;      // from 1; 0 without a file
  int column = 0;
  std::string message;

  std::string ToText() const;  // "recipe.yaml:12:5: batch.size is 0; it must be >= 1"
  Json ToJson() const;         // {"file", "line", "column", "message"}; null without a line
  bool operator==(const RecipeFinding&) const = default;
};

// Collects findings, and what could not be checked.
class RecipeCheck {
 public:
  //   path    of the recipe, as messages name it
  //   recipe  as read, with the places of its sections
  RecipeCheck(std::string path, const ConfigNode& recipe);

  // Adds every new error in `status` (base/problems.h). An error without a place gets that of the
  // key it names ("data.eval gives no batch"), or else that of `section`.
  void Add(const Status& status, std::string_view section);

  // The same, but errors without a place get `place`.
  void AddAt(const Status& status, const ConfigLocation& place);

  // Adds a warning, at the place of the key that it names.
  void Warn(const std::string& message);

  // Adds something that was not checked, and why.
  void NotChecked(std::string what) { not_checked_.push_back(std::move(what)); }

  // Whether there is nothing that keeps what depends on it from being looked at.
  bool clean() const { return findings_.empty() && not_judged_.empty(); }

  // Returns the findings in the order of the file. The result's `damage` has their number.
  Inspection Report() const;

 private:
  // Returns the finding at a place that the message itself names.
  std::optional<RecipeFinding> FindNamedPlace(const std::string& message) const;
  RecipeFinding FindingAt(const ConfigLocation& place, const std::string& message) const;
  RecipeFinding Located(const std::string& message, std::string_view section) const;
  void AddFinding(RecipeFinding finding);

  const std::string path_;
  const ConfigNode& recipe_;
  std::vector<RecipeFinding> findings_, warnings_;
  std::vector<std::string> not_checked_;
  std::vector<RecipeFinding> not_judged_;  // names that a plug-in may bring which is not loaded
};

// Checks the sections' names, the keys of `data`, its pipelines, their sources and a first batch of
// each. Returns the parts that could be made.
//   requests  as of ParseDataSection
CheckedData CheckData(const ConfigNode& recipe, const std::filesystem::path& folder,
                      RecipeCheck& check, std::span<const TrainingRequest> requests = {});

}  // namespace stoker
