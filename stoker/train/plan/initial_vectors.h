// Vectors of words that others have trained, as the first values of a model's table.
//
//   train:
//     init_from:
//       vectors: {tokens: glove.6B.100d.txt}   # a field of tokens, one of several inputs by its
//                                              # name or field, or a feature with an embedding
//
// Words that the file lacks keep the model's own first values.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"

namespace stoker {

// Copies the vectors of all files in `options` into the model's tables (Model::VectorTables), by
// the words that the stages of `batches` number. Returns a text of how many words they are, for
// people; empty if `options` name no file.
//   inputs  that the model takes
// Errors: kInvalidArgument if the model has no such table, the stages have no list of words, or the
// vectors have another width; kFailedPrecondition if a file has none of the words; those of
// ReadWordVectors.
Result<std::string> InitializeVectors(Model& model, const InitFromOptions& options,
                                      const Dataset& batches,
                                      const std::vector<InputField>& inputs);

// Gives the model its first values from elsewhere: weights (initial_weights.h), then vectors.
// Returns a text of both.
Result<std::string> InitializeModel(Model& model, const TrainRecipe& train, const Dataset& batches);

}  // namespace stoker
