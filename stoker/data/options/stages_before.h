// A recipe's description of the stages that precede the one being built.
#pragma once

#include <span>
#include <string>

#include "stoker/base/config.h"

namespace stoker {

// For a stage that stores the results of earlier ones (`cache`) and must notice when one of their
// options changes: a Dataset's own text has few of them. Applies on its thread while it lives; the
// innermost of several applies.
class StagesBefore {
 public:
  // `entries`: of the pipeline's list, every option filled in; borrowed.
  explicit StagesBefore(std::span<const ConfigNode> entries);
  StagesBefore(const StagesBefore&) = delete;
  StagesBefore& operator=(const StagesBefore&) = delete;
  ~StagesBefore();

  // Returns a line for each entry; long ones are truncated, with a checksum. Empty if no recipe is
  // being read (pipelines built in C++).
  static std::string Lines();

 private:
  const std::span<const ConfigNode> entries_;
  const StagesBefore* const around_;
};

}  // namespace stoker
