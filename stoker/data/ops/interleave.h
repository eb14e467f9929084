#pragma once

#include <cstdint>
#include <functional>

#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/pipelines.h"

namespace stoker {

// Reads several inputs at once and takes their elements in turn. `cycle_length` inputs have a place
// in the cycle; a turn is `block_length` elements, or as many as the input still has. When the turn
// of an ended input comes, the next input takes its place. So cycle_length 1 is concatenation.
//
// The inputs are listed (`inputs`), or one for each of many files (`files`, each read by `pipeline`
// and opened when its turn comes), or made from the elements of a dataset (InterleaveEach). An
// element's key combines the key of its input and its key in that input.
//
// The order is a function of the inputs alone. With `deterministic: false` an input that has
// nothing ready passes its turn to the next one that has: the same elements, each once, in an order
// that differs from run to run, so that a slow file does not delay the others. This applies with
// `parallel`, and only if no later stage depends on the order, as for prefetch (ops/prefetch.h);
// inputs that are all read by position keep their order.
//
// With `parallel` every input of the cycle reads ahead on its own thread, independent of the number
// of CPUs, because threads that wait for a disk or a network need none; so does the same number of
// next inputs. Memory: each of these may hold its queue within the budget, and one element beyond
// it.
//
// By position if all listed inputs are; the state is then one number. In order the state is that of
// the inputs in the cycle; resuming costs as much as for them, and for reading the dataset that
// they are made from between the oldest and the newest of them.
struct Interleave {
  static constexpr std::string_view kName = "interleave";
  static constexpr std::string_view kHelp =
      "Elements of several pipelines, or of the same pipeline over many files, taken in turn; the "
      "inputs read ahead in parallel.";
  Pipelines inputs;
  FilePatterns files;
  PipelinePerFile pipeline;
  int64_t cycle_length = 4;
  int64_t block_length = 1;
  bool parallel = true;
  bool deterministic = true;

  static void Describe(OptionTable<Interleave>& table);
  Result<Dataset> Build() const;
};

template <>
const std::vector<Option>& OptionsOf<Interleave>();

// In C++, an input for each element of a dataset:
//
//   names | InterleaveEach{.function = [](const Element& name) { return Source(...); }, .output =
//   spec}
//
// Called by one thread at a time. Its result must depend only on the element and have elements of
// the Spec `output`. An exception becomes an error.
struct InterleaveEach {
  static constexpr std::string_view kName = Interleave::kName;
  std::function<Result<Dataset>(const Element& element)> function;
  Spec output;
  int64_t cycle_length = 4;
  int64_t block_length = 1;
  bool parallel = true;
  bool deterministic = true;

  Result<Dataset> Build(Dataset input) const;
};
Result<Dataset> operator|(Result<Dataset> input, const InterleaveEach& each);

}  // namespace stoker
