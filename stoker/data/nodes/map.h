// Element-wise work: a dataset whose elements are those of another, each put through a Transform or
// a function.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// `name` and `details` are what the stage is called in recipes and reports, `output` describes what
// comes out. By position where `input` is. The transforms in transforms/ are made with this.
Dataset MapDataset(Dataset input, std::string name, std::string details, Spec output,
                   std::shared_ptr<const Transform> transform);

// Whether MapDataset made it.
bool IsMapDataset(const DatasetNode& node);

// The same stage over another input of the same Spec; `map` must be one that MapDataset made.
// `note` is added to its details.
Dataset MapOver(const DatasetNode& map, Dataset input, const std::string& note);

// A C++ function as a pipeline stage:
//
//   ... | Map{.function = [](Element& element, Rng& rng, Scratch& scratch) { ... }}
//
// It is called from several threads at once, must be a pure function of the element and the Rng,
// and may change the element's arrays (write only where MayWriteInPlace). An exception becomes an
// error.
//
// Memory: the result is admitted by `output`; what else it takes from `scratch` is charged too, and
// admitted from the second element on. What it allocates by itself (new, std::vector) is not seen,
// except for arrays that it hands on, while they wait in a queue.
struct Map {
  static constexpr std::string_view kName = "map";
  std::function<Status(Element& element, Rng& rng, Scratch& scratch)> function;
  Spec output;  // of the elements it makes; empty: the same as the input's
  // Whether it draws from the Rng. Where it says no, its results may be cached, and predicted from.
  bool random = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const Map& map);

// The same for many tiny elements at once, column by column: one call for each chunk or batch, so
// that a function of few instructions for each sample is not outweighed by its call.
//
//   ... | MapRows{.function = [](Rows& rows, const RowRng& rng, Scratch& scratch) { ... }}
//
// What is said of Map holds here. It may replace the columns, but not add or drop rows or change
// their keys; `rng(i)` is the random stream of row i. A sample must give the same bytes whichever
// others it comes with: where elements travel alone, the function gets rows of one.
struct MapRows {
  static constexpr std::string_view kName = "map";
  using RowRng = std::function<Rng(int64_t row)>;
  std::function<Status(Rows& rows, const RowRng& rng, Scratch& scratch)> function;
  Spec output;  // of the elements it makes; empty: the same as the input's
  // Whether it draws from any row's Rng. Where it says no, its results may be cached, and predicted
  // from.
  bool random = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const MapRows& map);

}  // namespace stoker
