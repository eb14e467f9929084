// Measures the training step alone, on one batch that stays on the device: the most that a run
// could reach if it waited for nothing. This header does not include torch.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Medians of a step, in seconds.
struct StepCost {
  int64_t batch = 0;      // samples
  double seconds = 0;     // of the whole step
  double backward_s = 0;  // forward and backward pass
  double optimizer_s = 0;
  double copy_s = 0;  // of its batch to the device, which is waited for; 0 on the CPU
  int threads = 0;    // that computed
  bool accelerator = false;
};

// Steps for about `seconds`, at least three times after one to warm up, with a model of its own
// that is thrown away. Calls at::set_num_threads.
//   choices  of the run: layout, precision and threads
//   stop     may be null; once true, the call ends after the current step, with kCancelled if
//            there were fewer than three
// Errors: those of the first batch, of Learner and of its steps.
Result<StepCost> MeasureStep(const Recipe& recipe, const Choices& choices, double seconds,
                             const std::atomic<bool>* stop);

}  // namespace stoker
