// TensorboardLog: writes the measurements of a run as TensorBoard's event files, beside
// metrics.jsonl.
//
//   train:
//     tensorboard: true
//
// Scalars are the figures of metrics.jsonl, tagged "train/loss", "eval/accuracy" and so on. It also
// writes the recipe as text, and its keys as hyperparameters with the final metrics. A resumed run
// continues in a new file, which makes TensorBoard drop the values of repeated steps
// (formats/tensorboard/README.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/formats/tensorboard/event_writer.h"

namespace stoker {

// Returns the plain keys of model and train in a recipe, every key filled in, by their dotted
// names.
std::vector<HyperParameter> HyperParametersOf(const ConfigNode& recipe);

// One thread at a time. Errors: those of EventWriter.
class TensorboardLog {
 public:
  //   directory  of the run
  //   recipe     every key filled in
  //   done       steps that the run has done, where it is resumed
  //   has_accuracy  whether its evaluations, if any, have one
  static Result<std::unique_ptr<TensorboardLog>> Open(const std::string& directory,
                                                      const ConfigNode& recipe,
                                                      std::optional<int64_t> done,
                                                      bool has_accuracy = true);

  // Writes every figure of a line of metrics.jsonl.
  Status Write(const Json& line);
  Status Write(const Summary& summary, int64_t step) { return writer_.Write(summary, step); }

  // Call it when the run has finished or failed, not when it was interrupted.
  Status End(bool finished);

 private:
  explicit TensorboardLog(EventWriter writer) : writer_(std::move(writer)) {}

  EventWriter writer_;
  int64_t last_step_ = 0;
};

}  // namespace stoker
