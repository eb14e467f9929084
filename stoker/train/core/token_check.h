// The tokens of a batch for a model of sequences, checked in CPU memory.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/device/feeder.h"
#include "stoker/run/registry.h"
#include "stoker/run/row_names.h"
#include "stoker/train/core/known_tokens.h"

namespace stoker {

// Errors (kOutOfRange): the first sample, by its name, with a number that is neither a token that
// the model knows nor the padding.
//   given  one input, [samples, length] or ragged, of any integer type
//   batch  its key, for `names`
Status CheckTokens(const Inputs& given, const KnownTokens& known, const SampleKey& batch,
                   const RowNames& names);

// Returns this check for each input, for BatchChecks::inputs; an empty one where the model does not
// say which tokens it knows. Errors have the name of the input, if it has one.
std::vector<InputCheck> TokenChecksOf(const TokensByInput& known,
                                      const std::vector<InputField>& inputs, const RowNames& names);

// Errors: `batches` pads a field of the model's inputs with another number than `known`'s, so that
// scores would depend on the other samples of a batch.
//   name  of the dataset, "data.train"
Status CheckPaddings(const TokensByInput& known, const Dataset& batches,
                     const std::vector<InputField>& inputs, std::string_view name);

}  // namespace stoker
