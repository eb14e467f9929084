#include "stoker/tools/recipe_file.h"

#include "stoker/data/recipe.h"
#include "stoker/io/file.h"

namespace stoker {

Result<ConfigNode> ReadRecipe(const std::string& path,
                              const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ParseYaml(text, path));
  STOKER_RETURN_IF_ERROR(ApplyAssignments(recipe, assignments));
  STOKER_RETURN_IF_ERROR(CheckSections(recipe));
  return recipe;
}

std::filesystem::path RecipeFolder(const std::string& path) {
  return std::filesystem::path(path).parent_path();
}

}  // namespace stoker
