// Mistakes of beginners that no stage can see, since each is right by itself: how the pipelines of
// a recipe go together.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"

namespace stoker {

struct DataDoubt {
  ConfigLocation place;  // of the stage that it is about; without a file where that has none
  std::string problem;
  std::string advice;
};

// What is doubtful about the section `data` of a recipe:
//   * data.eval reads samples that data.train learns from: the same source, and no `take`, `skip`
//     or other stage that parts them, or parts that overlap or are drawn anew in each epoch;
//   * data.eval is normalised with other values than data.train;
//   * data.eval draws at random how its samples look;
//   * a pipeline normalises a field twice.
// Only what is certain: where a stage may part the samples in another way nothing is said.
//   data  as written, or with every option filled in; what is no pipeline is left alone
std::vector<DataDoubt> DoubtsAbout(const ConfigNode& data);

}  // namespace stoker
