// Lines of LIBSVM files as numbers. README.md has the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// What lines are, as far as they do not tell.
struct LibsvmForm {
  int64_t first_index = 1;  // of the first feature
  // How many features there are; a larger index is an error. 0: any.
  int64_t features = 0;
};

// One line, in numbers. Cleared and filled by ParseLibsvm, so that its memory serves many lines.
struct LibsvmSample {
  std::vector<double> labels;
  std::vector<int64_t> indices;  // growing; the first feature has 0
  std::vector<float> values;     // as many
  int64_t query = -1;            // where there is none
};

// Errors: kDataLoss, with the byte within the line; the caller knows which line it is.
Status ParseLibsvm(std::string_view line, const LibsvmForm& form, LibsvmSample& out);

}  // namespace stoker
