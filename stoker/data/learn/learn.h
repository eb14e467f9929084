// Learns from the training data what the stages of a recipe ask for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/learn/learned.h"

namespace stoker {

// Returns what the stages of the whole pipeline data.train (options/whole_pipeline.h) ask for; null
// if none asks (requests.h). Reads the training side once, on the threads of the engine and within
// the budget of the process, up to the last stage that asks: all of them learn in one pass, except
// that a stage which follows one that changes what another learned needs a pass of its own.
//
// shuffle, cache, repeat and prefetch are left out. Where a stage asks before `split`, as in
// data.source, the samples of the training side are those it learns from, too. The bytes of the
// result depend on the samples and their order alone, not on threads. Random stages before a stage
// that asks draw as in epoch 0 with seed 0.
//
// The last results are remembered, so that a recipe that is read again learns once per process;
// anew if a file has changed. Logs a line for what was learned, and of a long pass how far it is.
//
// Errors, with the place of the stage: those of building the stages and of reading;
// kInvalidArgument for a stage that asks after a batch, before a split that depends on its field,
// or of an endless pipeline; kFailedPrecondition if nothing can be learned (learner.h);
// kResourceExhausted beyond the budget; kCancelled if this thread is asked to stop
// (base/stop_scope.h).
Result<std::shared_ptr<const Learned>> LearnFrom(const ConfigNode& train,
                                                 const std::filesystem::path& root);

}  // namespace stoker
