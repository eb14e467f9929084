// Parses lines of LIBSVM files. README.md has the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Properties of a file that its lines do not state.
struct LibsvmForm {
  int64_t first_index = 1;  // index of the first feature
  // How many features there are; a larger index is an error. 0: any.
  int64_t features = 0;
};

// One parsed line. ParseLibsvm clears and fills it, which reuses its memory.
struct LibsvmSample {
  std::vector<double> labels;
  std::vector<int64_t> indices;  // ascending, from 0
  std::vector<float> values;     // as many
  int64_t query = -1;            // -1: none
};

// Errors: kDataLoss, with the byte within the line; the caller adds the line.
Status ParseLibsvm(std::string_view line, const LibsvmForm& form, LibsvmSample& out);

}  // namespace stoker
