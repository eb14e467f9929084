// How a recipe describes the stages in front of the one that is being built.
#pragma once

#include <span>
#include <string>

#include "stoker/base/config.h"

namespace stoker {

// For a stage that keeps what those in front of it made (`cache`) and must notice where an option
// of theirs is another: a Dataset's own text has few of them. Holds on its thread while it lives;
// of several the innermost counts, whose pipeline the stage is in.
class StagesBefore {
 public:
  // `entries`: of the pipeline's list, every option filled in; borrowed.
  explicit StagesBefore(std::span<const ConfigNode> entries);
  StagesBefore(const StagesBefore&) = delete;
  StagesBefore& operator=(const StagesBefore&) = delete;
  ~StagesBefore();

  // A line for each of them; what is long is cut off, with a checksum. Empty where no recipe is
  // being read (stages that C++ puts together).
  static std::string Lines();

 private:
  const std::span<const ConfigNode> entries_;
  const StagesBefore* const around_;
};

}  // namespace stoker
