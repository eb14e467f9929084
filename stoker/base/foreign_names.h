// What PyTorch, Lightning, Keras and tf.data call the keys, options and operators of recipes: for
// the message about a name that is unknown here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// One row of the table.
struct ForeignName {
  std::string_view name;  // in lower case with underscores
  // What has its meaning here: a key ("train.feed_threads"), an operator or its option
  // ("batch.size"), or with a dot first an option of whatever it stands in (".probability"). Empty
  // where nothing needs to be set.
  std::string_view here;
  std::string_view says = "";  // more, for where the counterpart is no plain one
};

// The table. A name may have several rows: an option of what it stands in counts first.
std::span<const ForeignName> ForeignNames();

// The one of `names` that `wanted` stands for; empty where it stands for none of them. `wanted` is
// not among `names`.
std::string OwnNameFor(std::string_view wanted, const std::vector<std::string>& names);

// "here that is train.feed_threads", for a name that is not among `names`, those known at its
// place. Names written as Python's classes are (RandomHorizontalFlip) are found too, also our own
// (CenterCrop). Empty where there is nothing to say.
std::string ForeignNameAdvice(std::string_view wanted, const std::vector<std::string>& names);

// The same, and NameAdvice (config.h) where there is nothing to say: for messages about a recipe.
std::string RecipeNameAdvice(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace stoker
