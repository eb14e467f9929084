#include "stoker/run/weight_renames.h"

#include "stoker/base/problems.h"
#include "stoker/base/short_text.h"

namespace stoker {

Result<std::pair<std::string, std::string>> ParseRename(const std::string& rule) {
  const size_t equals = rule.find('=');
  if (equals == std::string::npos) {
    return InvalidArgument(
        "train.init_from.rename: '{}' must say OLD=NEW, the beginning of names in the file and "
        "what replaces it",
        ShortText(rule));
  }
  return std::pair(rule.substr(0, equals), rule.substr(equals + 1));
}

Status CheckRenames(const InitFromOptions& options) {
  Problems problems;
  for (const std::string& rule : options.rename) problems.Add(ParseRename(rule).status());
  return problems.ToStatus();
}

}  // namespace stoker
