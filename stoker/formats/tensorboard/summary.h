// Builds Event messages, the content of event files. README.md has their layout.
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

// A hyperparameter and its value in a run.
struct HyperParameter {
  std::string name;
  std::variant<bool, double, std::string> value;
};

enum class SessionStatus { kSuccess = 1, kFailure = 2, kRunning = 3 };

// Builds one Event of any number of values. A tag is a name such as "train/loss"; TensorBoard
// groups by the part before the slash. One thread at a time.
class Summary {
 public:
  Summary& AddScalar(std::string_view tag, double value);  // stored as float32
  Summary& AddHistogram(std::string_view tag, const Histogram& histogram);
  //   png  a PNG file of these pixels; channels: 1 (grey) or 3 (RGB)
  Summary& AddImage(std::string_view tag, int64_t height, int64_t width, int64_t channels,
                    std::string_view png);
  // TensorBoard shows the text as Markdown.
  Summary& AddText(std::string_view tag, std::string_view text);

  // Adds the columns of the table of hyperparameters, and the tags of the scalars that measure a
  // run. `hparams` gives names and types; their values are ignored.
  Summary& AddExperiment(std::span<const HyperParameter> hparams,
                         std::span<const std::string> metric_tags);
  // Adds the run's row to that table.
  Summary& AddSessionStart(std::span<const HyperParameter> hparams, double wall_time);
  Summary& AddSessionEnd(SessionStatus status, double wall_time);

  bool empty() const { return values_.bytes().empty(); }
  // Returns the bytes of the Event.
  //   wall_time  seconds since 1970
  //   step       of the run, at least 0
  std::string Event(double wall_time, int64_t step) const;

 private:
  void Add(std::string_view tag, const WireWriter& rest);
  void AddForPlugin(std::string_view tag, const WireWriter& message);

  WireWriter values_;
};

// Returns the Event that every file begins with.
std::string FileVersionEvent(double wall_time);

// Returns the Event on which a reader forgets what it has read of `step` and later ones.
std::string RestartEvent(double wall_time, int64_t step);

}  // namespace stoker
