// A C++ function that makes any number of elements out of one, as a pipeline stage.
#pragma once

#include <functional>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// For crops, windows, the lines of a document, the frames of a video:
//
//   ... | FlatMap{.function = [](const Element& element, Rng& rng, Scratch& scratch)
//                     -> Result<std::vector<Element>> { ... },
//                 .output = {{{"frame", DType::kUInt8, {3, 224, 224}}}}}
//
// Outputs the elements that the function makes, in its order, for each element of the input in
// turn. The function (`flat_map_function` in reports) is called from several threads at once, must
// be a pure function of the element and the Rng, and may make no elements. Arrays from `scratch`
// count against the memory budget, and all results of one call are held until they have been
// output. The results are numbered in order (their keys) and read in order; their number is unknown
// beforehand. An exception becomes an error that names the element.
//
// A saved position has the number of elements of the current call that were output; restoring calls
// the function again for that one element.
struct FlatMap {
  static constexpr std::string_view kName = "flat_map";
  std::function<Result<std::vector<Element>>(const Element& element, Rng& rng, Scratch& scratch)>
      function;
  Spec output;  // of the elements it makes; empty: the same as the input's
  // Whether it draws from the Rng. If false, its results may be cached.
  bool random = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const FlatMap& flat_map);

}  // namespace stoker
