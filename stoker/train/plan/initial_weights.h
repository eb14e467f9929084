// First weights from elsewhere: for fine-tuning and for going on from what another run learned.
//
//   train:
//     init_from:
//       weights: resnet50.pth       # also .safetensors, or the directory of a run
//       skip: ["fc.*"]              # keep their own first values
//
// It stands below `train` and not below `model`, because it says where training begins; what the
// model is, and how a finished run is evaluated, does not depend on the file any more.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"

namespace stoker {

// What became of the model's tensors and of the file's.
struct InitReport {
  std::string source;
  int64_t taken = 0;                    // of the model's tensors, from the file
  int64_t all = 0;                      // of the model's tensors
  std::vector<std::string> skipped;     // by `skip`
  std::vector<std::string> missing;     // in the file
  std::vector<std::string> unexpected;  // in the file, called as it calls them
  std::vector<std::string> mismatched;  // "fc.weight is float32[1000, 512], the model has ..."

  bool fits() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  // One line, the names shortened to some: for people.
  std::string ToText() const;
};

// Copies weights into the model. Names in the file lose `prefix` (those without it are left out)
// and are renamed; floating-point types are converted. As in PyTorch, num_batches_tracked may be
// missing: it stays 0. Errors: kFailedPrecondition, nothing copied, where not every tensor finds
// its own and `partial` is not set, with the report and, where it would help, the prefix to give;
// where nothing fits at all; kInvalidArgument for a rule that matches nothing; kDataLoss, nothing
// copied, for values that are NaN or infinite, with the tensor and how many.
//   source  what messages call the arrays' origin
//   unread  what is there beside the arrays, of types that Stoker lacks: as arrays that fit nothing
Result<InitReport> CopyWeights(Model& model, const InitFromOptions& options,
                               std::span<const NamedArray> arrays, std::string_view source,
                               std::span<const SafetensorsEntry> unread = {});

// The same from where `options` say. Does nothing where they name no weights.
Result<InitReport> InitializeWeights(Model& model, const InitFromOptions& options);

}  // namespace stoker
