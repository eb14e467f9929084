// What the stages of a recipe's section `data` have learned: from a file, or from the data.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/learn/learned.h"
#include "stoker/data/learn/training_requests.h"

namespace stoker {

// Returns what the stages of `list`, one of the whole pipelines of `recipe` (with the entries of
// WithTrainingRequests, where these are wanted too), need that ask for something learned; null if
// none asks. It is read from the file `data.learned` where the section has that key, else learned
// from data.train (learn/learn.h) together with `requests`.
// REQUIRES: CheckShared succeeded for the section `data`.
//   root    absolute
//   folder  the recipe's; a relative `data.learned` starts there, or at the working directory if
//           it was given on the command line
// Errors: those of ReadLearned, with the place of the key, and of LearnFrom.
Result<std::shared_ptr<const Learned>> LearnedFor(const ConfigNode& recipe, const ConfigNode& list,
                                                  const std::filesystem::path& root,
                                                  const std::filesystem::path& folder,
                                                  std::span<const TrainingRequest> requests = {});

// Returns what the file that `data.learned` names holds; null where the recipe names none. Errors
// as above.
Result<std::shared_ptr<const Learned>> LearnedNamedIn(const ConfigNode& recipe,
                                                      const std::filesystem::path& folder);

}  // namespace stoker
