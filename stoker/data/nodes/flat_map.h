// A C++ function that makes any number of elements out of one, as a pipeline stage.
#pragma once

#include <functional>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// Cuts, windows, lines of a document, the frames of a video:
//
//   ... | FlatMap{.function = [](const Element& element, Rng& rng, Scratch& scratch)
//                     -> Result<std::vector<Element>> { ... },
//                 .output = {{{"frame", DType::kUInt8, {3, 224, 224}}}}}
//
// Hands out the elements that the function makes, in its order, for each element of the input in
// turn. It is called from several threads at once (`flat_map_function` in reports), must be a pure
// function of the element and the Rng, and may make none. Arrays from `scratch` count against the
// memory budget, and all that one call makes is held until it has been handed out. What comes out
// is numbered as it comes (its keys), and read in order; how many there are is not known
// beforehand. An exception becomes an error that names the element.
//
// A saved position says how many elements of the present call have been handed out; restoring calls
// the function again for that one element.
struct FlatMap {
  static constexpr std::string_view kName = "flat_map";
  std::function<Result<std::vector<Element>>(const Element& element, Rng& rng, Scratch& scratch)>
      function;
  Spec output;  // of the elements it makes; empty: the same as the input's
  // Whether it draws from the Rng. Where it says no, what it makes may be cached.
  bool random = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const FlatMap& flat_map);

}  // namespace stoker
