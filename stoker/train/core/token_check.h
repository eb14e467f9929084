// The tokens of a batch for a model of sequences, checked in CPU memory.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/device/feeder.h"
#include "stoker/run/row_names.h"
#include "stoker/train/core/known_tokens.h"

namespace stoker {

// Errors (kOutOfRange): the first sample, by its name, with a number that is neither a token that
// the model knows nor the padding.
//   given  [samples, length], of any integer type
//   batch  its key, for `names`
Status CheckTokens(const at::Tensor& given, const KnownTokens& known, const SampleKey& batch,
                   const RowNames& names);

// Returns this check for BatchChecks::input; empty if the model does not say which tokens it knows.
BatchCheck TokenCheckOf(std::optional<KnownTokens> known, RowNames names);

// Errors: `batches` pads the field of the model's input with another number than `known`'s, so that
// scores would depend on the other samples of a batch.
//   name  of the dataset, "data.train"
Status CheckPadding(const KnownTokens& known, const Dataset& batches, std::string_view input,
                    std::string_view name);

}  // namespace stoker
