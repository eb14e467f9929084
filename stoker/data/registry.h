// The operators a recipe may name, and the way from a recipe's list to a Dataset.
#pragma once

#include <concepts>
#include <filesystem>
#include <optional>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/data/dataset.h"

namespace stoker {

// An options struct that makes a dataset out of nothing, or out of another. See sources/idx.h and
// ops/batch.h.
template <typename T>
concept SourceOptions = requires(const T& options) {
  { options.Build() } -> std::same_as<Result<Dataset>>;
};
template <typename T>
concept OperatorOptions = requires(const T& options, Dataset input) {
  { options.Build(std::move(input)) } -> std::same_as<Result<Dataset>>;
};

class OperatorRegistry : public Registry<Dataset, std::optional<Dataset>> {
 public:
  OperatorRegistry() : Registry("operator") {}

  template <SourceOptions T>
  void Add() {
    AddKind<T>(
        "source", [](const T& options, const std::optional<Dataset>& input) -> Result<Dataset> {
          if (input)
            return InvalidArgument(
                "{}: a source must come first in its pipeline; move it to the top", T::kName);
          return options.Build();
        });
  }
  template <OperatorOptions T>
  void Add() {
    AddKind<T>("operator", [](const T& options, std::optional<Dataset> input) -> Result<Dataset> {
      if (!input)
        return InvalidArgument("{}: there is nothing to work on; begin the pipeline with a source",
                               T::kName);
      return options.Build(*std::move(input));
    });
  }

  // All operators of Stoker.
  static const OperatorRegistry& Builtin();
};

// Generated: adds what stands in sources/, ops/ and transforms/.
void RegisterBuiltinOperators(OperatorRegistry& registry);

// The key that may stand beside an operator in its entry of the list: what happens to elements that
// fail there (ops/ignore_errors.h). `on_error: OPTIONS` means an `ignore_errors: OPTIONS` right
// behind.
inline constexpr std::string_view kOnError = "on_error";

// Reads one entry of a pipeline's list: `name`, {name: options}, or {name: options, on_error: ...}.
Result<OperatorRegistry::Configured> ParseStage(const ConfigNode& entry,
                                                const std::filesystem::path& root = {});

// Reads `pipeline`, a list with one operator an entry, into a Dataset. Paths are taken relative to
// `root`. Errors begin with file, line and column. `filled` (may be null) gets the list with every
// option filled in.
Result<Dataset> BuildPipeline(const ConfigNode& pipeline, const std::filesystem::path& root,
                              ConfigNode* filled = nullptr);

// The same in C++:
//   Result<Dataset> train = Source(Idx{...}) | Shuffle{} | Batch{.size = 128};
template <SourceOptions T>
Result<Dataset> Source(const T& options) {
  STOKER_RETURN_IF_ERROR(CheckOptionsOf(options));
  return options.Build();
}
template <OperatorOptions T>
Result<Dataset> operator|(Result<Dataset> input, const T& options) {
  if (!input.ok()) return input;
  STOKER_RETURN_IF_ERROR(CheckOptionsOf(options));
  return options.Build(*std::move(input));
}

}  // namespace stoker
