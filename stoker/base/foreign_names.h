// The names that PyTorch, Lightning, Keras and tf.data have for the keys, options and operators of
// recipes. Messages about unknown names use them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// One row of the table.
struct ForeignName {
  std::string_view name;  // in lower case with underscores
  // The counterpart in Stoker: a key ("train.feed_threads"), an operator or its option
  // ("batch.size"), or, with a leading dot, an option of the enclosing operator (".probability").
  // Empty if nothing needs to be set.
  std::string_view here;
  std::string_view says = "";  // what the message adds if the counterpart differs
};

// Returns the table. A name may have several rows; an option of the enclosing operator has
// precedence.
std::span<const ForeignName> ForeignNames();

// Returns the one of `names` that `wanted` corresponds to; empty if there is none. REQUIRES:
// `wanted` is not among `names`.
std::string OwnNameFor(std::string_view wanted, const std::vector<std::string>& names);

// Returns advice such as "here that is train.feed_threads" for a name that is not among `names`,
// those known at its place. Finds names in the spelling of Python classes too
// (RandomHorizontalFlip), Stoker's own included (CenterCrop). Empty if there is no counterpart.
std::string ForeignNameAdvice(std::string_view wanted, const std::vector<std::string>& names);

// Returns the same, or NameAdvice (config.h) if that is empty.
std::string RecipeNameAdvice(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace stoker
