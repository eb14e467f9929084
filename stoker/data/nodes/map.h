// Element-wise work: a dataset that applies a Transform or a function to each element of another.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// `name` and `details` describe the stage in recipes and reports, `output` its results. By position
// if `input` is. The transforms in transforms/ use this.
Dataset MapDataset(Dataset input, std::string name, std::string details, Spec output,
                   std::shared_ptr<const Transform> transform);

// Returns whether MapDataset made it.
bool IsMapDataset(const DatasetNode& node);

// Returns the same stage over another input of the same Spec; adds `note` to its details. REQUIRES:
// MapDataset made `map`.
Dataset MapOver(const DatasetNode& map, Dataset input, const std::string& note);

// A C++ function as a pipeline stage:
//
//   ... | Map{.function = [](Element& element, Rng& rng, Scratch& scratch) { ... }}
//
// It is called from several threads at once, must be a pure function of the element and the Rng,
// and may change the element's arrays (write only where MayWriteInPlace). An exception becomes an
// error.
//
// Memory: `output` determines how much is admitted for the result; other memory from `scratch` is
// charged too, and admitted from the second element on. What the function allocates by itself (new,
// std::vector) is not counted, except for arrays that it returns, while they wait in a queue.
struct Map {
  static constexpr std::string_view kName = "map";
  std::function<Status(Element& element, Rng& rng, Scratch& scratch)> function;
  Spec output;  // of the elements it makes; empty: the same as the input's
  // Whether it draws from the Rng. If false, its results may be cached and used for predictions.
  bool random = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const Map& map);

// The same for many tiny elements at once, column by column, which amortises the call of a function
// of few instructions.
//
//   ... | MapRows{.function = [](Rows& rows, const RowRng& rng, Scratch& scratch) { ... }}
//
// The rules of Map apply. The function may replace the columns, but not add or drop rows or change
// their keys; `rng(i)` is the random stream of row i. The result for a sample must not depend on
// the other rows; their number is unspecified and may be one.
struct MapRows {
  static constexpr std::string_view kName = "map";
  using RowRng = std::function<Rng(int64_t row)>;
  std::function<Status(Rows& rows, const RowRng& rng, Scratch& scratch)> function;
  Spec output;  // of the elements it makes; empty: the same as the input's
  // Whether it draws from any row's Rng. If false, its results may be cached and used for
  // predictions.
  bool random = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const MapRows& map);

}  // namespace stoker
