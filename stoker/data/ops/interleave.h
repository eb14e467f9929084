#pragma once

#include <cstdint>
#include <functional>

#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/pipelines.h"

namespace stoker {

// Several inputs read side by side, their elements taken in turn. `cycle_length` inputs have a
// place in the cycle; each place's turn is `block_length` elements, or as many as its input still
// has. A place whose input has ended is taken, when its turn comes, by the next input. So
// cycle_length 1 is one input after the other.
//
// The inputs are listed (`inputs`), or one for each of many files (`files`, each with `pipeline`
// behind it, opened when its turn comes), or made from the elements of a dataset (InterleaveEach).
// Elements' keys are made of that of their input and that in their input.
//
// Order: a function of the inputs alone; the same on any number of threads. With `deterministic:
// false` the turn of an input that has nothing ready passes to the next that has: the same
// elements, each once, in an order that differs from run to run, so that one slow file holds up no
// other. It holds where `parallel` does, and only where no stage behind it depends on the order, as
// for prefetch (ops/prefetch.h); inputs that are all read by position keep their order.
//
// With `parallel` every input of the cycle reads ahead on a thread of its own, however few CPUs
// there are, since those that wait for a disk or a network need none; so do the inputs that come
// next, as many again. Memory: each of these may hold its queue within the budget, and one element
// beyond it.
//
// Listed inputs that are all read by position make a dataset that is; its state is one number. In
// order the state is that of the inputs in the cycle; resuming costs what it costs them, and what
// lies between the oldest of them and the newest in the dataset that they are made from.
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
// Called by one thread at a time. What it gives must depend on the element alone and have elements
// as `output` says. An exception becomes an error.
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
