#include "stoker/train/recipe_place.h"

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>

namespace stoker {
namespace {

// Returns the node that a path such as "train.checkpoint.best" at the start of `text` names, or the
// deepest one of that path that was written; null where none was.
const ConfigNode* NodeNamed(const ConfigNode& train, std::string_view text) {
  constexpr std::string_view kKeyLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const ConfigNode* node = &train;
  text.remove_prefix(std::string_view("train").size());
  while (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view key = text.substr(0, text.find_first_not_of(kKeyLetters));
    const ConfigNode* const below = node->Find(key);
    if (below == nullptr) break;
    node = below;
    text.remove_prefix(key.size());
  }
  return node == &train ? nullptr : node;
}

}  // namespace

Status WithPlace(const TrainRecipe& train, const Status& status) {
  const ConfigNode& written = train.written;
  const std::string& message = status.message();
  if (status.ok() || written.location.file == nullptr ||
      message.find(*written.location.file + ":") != std::string::npos ||
      message.find("--set ") != std::string::npos) {
    return status;
  }
  for (size_t at = message.find("train."); at != std::string::npos;
       at = message.find("train.", at + 1)) {
    const bool part_of_a_word = at > 0 && std::isalnum(static_cast<unsigned char>(message[at - 1]));
    if (part_of_a_word || message.substr(0, at).ends_with("data.")) continue;
    const ConfigNode* const node = NodeNamed(written, std::string_view(message).substr(at));
    if (node == nullptr) continue;
    return {status.code(), fmt::format("{}: {}", node->location.ToString(), message)};
  }
  return status;
}

}  // namespace stoker
