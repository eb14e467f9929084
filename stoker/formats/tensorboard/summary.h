// What an event file holds: Event messages as bytes. README.md has their layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/formats/protobuf/wire_writer.h"
#include "stoker/formats/tensorboard/histogram.h"

namespace stoker {

// A hyperparameter and what a run has it at.
struct HyperParameter {
  std::string name;
  std::variant<bool, double, std::string> value;
};

enum class SessionStatus { kSuccess = 1, kFailure = 2, kRunning = 3 };

// The figures of one moment: builds one Event of any number of values. A tag is a name such as
// "train/loss"; TensorBoard groups by what stands before the slash. One thread at a time.
class Summary {
 public:
  Summary& AddScalar(std::string_view tag, double value);  // stored as float32
  Summary& AddHistogram(std::string_view tag, const Histogram& histogram);
  //   png  a PNG file of these pixels; channels: 1 (grey) or 3 (RGB)
  Summary& AddImage(std::string_view tag, int64_t height, int64_t width, int64_t channels,
                    std::string_view png);
  // Shown as Markdown.
  Summary& AddText(std::string_view tag, std::string_view text);

  // The names that the table of hyperparameters has as columns, and the tags of the scalars that
  // tell how good a run is. `hparams` gives names and types; values do not count here.
  Summary& AddExperiment(std::span<const HyperParameter> hparams,
                         std::span<const std::string> metric_tags);
  // The run begins: its row in that table.
  Summary& AddSessionStart(std::span<const HyperParameter> hparams, double wall_time);
  Summary& AddSessionEnd(SessionStatus status, double wall_time);

  bool empty() const { return values_.bytes().empty(); }
  // The bytes of the Event.
  //   wall_time  seconds since 1970
  //   step       of the run, at least 0
  std::string Event(double wall_time, int64_t step) const;

 private:
  void Add(std::string_view tag, const WireWriter& rest);
  void AddForPlugin(std::string_view tag, const WireWriter& message);

  WireWriter values_;
};

// The Event that every file begins with.
std::string FileVersionEvent(double wall_time);

// The Event on which a reader forgets what it has read of `step` and later ones.
std::string RestartEvent(double wall_time, int64_t step);

}  // namespace stoker
