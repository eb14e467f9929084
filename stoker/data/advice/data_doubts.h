// Common mistakes in how the pipelines of a recipe fit together, which no single stage can detect.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"

namespace stoker {

struct DataDoubt {
  ConfigLocation place;  // of the stage concerned; without a file if that has none
  std::string problem;
  std::string advice;
};

// Returns what is doubtful about the section `data` of a recipe:
//   * data.eval reads samples that data.train learns from: the same source, and no `take`, `skip`
//     or other stage that separates them, or parts that overlap or are drawn anew in each epoch;
//   * data.eval is normalised with other values than data.train;
//   * data.eval numbers words by another list or file than data.train;
//   * data.eval draws at random how its samples look;
//   * a pipeline normalises a field twice.
// Reports only what is certain: nothing if a stage may separate the samples in another way.
//   data  as written, or with every option filled in; anything but pipelines is ignored
std::vector<DataDoubt> DoubtsAbout(const ConfigNode& data);

}  // namespace stoker
