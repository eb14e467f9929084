// Initial weights from another source: for fine-tuning and for continuing from another run.
//
//   train:
//     init_from:
//       weights: resnet50.pth       # also .safetensors, or the directory of a run
//       skip: ["fc.*"]              # these keep their own initial values
//
// It is a key of `train` and not of `model`, because it is the start of training; the model, and
// the evaluation of a finished run, do not depend on the file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"

namespace stoker {

// The matching of the model's tensors and the file's.
struct InitReport {
  std::string source;
  int64_t taken = 0;                    // of the model's tensors, from the file
  int64_t all = 0;                      // of the model's tensors
  std::vector<std::string> skipped;     // by `skip`
  std::vector<std::string> missing;     // in the file
  std::vector<std::string> unexpected;  // in the file, by its names
  std::vector<std::string> mismatched;  // "fc.weight is float32[1000, 512], the model has ..."

  bool fits() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  // Returns one line with some of the names, for people.
  std::string ToText() const;
};

// Copies weights into the model. Removes `prefix` from names in the file (ignoring those without
// it) and renames them; floating-point types are converted. As in PyTorch, num_batches_tracked may
// be missing: it stays 0. Errors (nothing is copied): kFailedPrecondition if a tensor has no match
// and `partial` is not set, with the report and, if it would help, a prefix to set, or if nothing
// matches at all; kInvalidArgument for a rule that matches nothing; kDataLoss for values that are
// NaN or infinite, with the tensor and how many.
//   source  what messages call the arrays' origin
//   unread  entries of types that Stoker lacks, which match nothing
Result<InitReport> CopyWeights(Model& model, const InitFromOptions& options,
                               std::span<const NamedArray> arrays, std::string_view source,
                               std::span<const SafetensorsEntry> unread = {});

// Does the same from the source in `options`. Does nothing if they name no weights.
Result<InitReport> InitializeWeights(Model& model, const InitFromOptions& options);

}  // namespace stoker
