// StageWorks: what kind of work each stage of a pipeline does.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stoker/base/stage_work.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Immutable; concurrent calls are safe.
class StageWorks {
 public:
  StageWorks() = default;
  explicit StageWorks(const Dataset& dataset);

  // Returns the work of the stage that a Profile calls `name`. A name that the dataset does not
  // have is that of stages which a rewrite has put together, and those change elements.
  StageWork Of(std::string_view name) const;

 private:
  std::map<std::string, StageWork, std::less<>> works_;
};

}  // namespace stoker
