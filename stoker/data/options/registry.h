// The operators that a recipe may name, and the conversion of a recipe's list to a Dataset.
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// An options struct that makes a source, or a dataset from another. See sources/idx.h and
// ops/batch.h.
template <typename T>
concept SourceOptions = requires(const T& options) {
  { options.Build() } -> std::same_as<Result<Dataset>>;
};
template <typename T>
concept OperatorOptions = requires(const T& options, Dataset input) {
  { options.Build(std::move(input)) } -> std::same_as<Result<Dataset>>;
};

// Every operator says whether it arranges: whether it only decides which samples come, in which
// order, how often, or where they are kept, and changes none. Such operators of data.eval are left
// out for given samples, as in predictions.
template <typename T>
concept SaysWhetherItArranges = requires {
  { T::kArranges } -> std::convertible_to<bool>;
};

// An operator that can learn some of its options from the training data lists them, first the one
// that asks for it when it is `auto`: `static constexpr std::string_view kLearns[] = {"mean",
// "std"};` (data/learn).
template <typename T>
concept LearnsOptions = requires {
  std::begin(T::kLearns);
};

// A stage of a recipe whose options are to be learned.
struct AskedStage {
  std::string stage;   // the operator
  std::string option;  // that is auto
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
    static_assert(
        SaysWhetherItArranges<T>,
        "give the operator a `static constexpr bool kArranges` (data/options/registry.h)");
    if (T::kArranges) arranging_.emplace(T::kName);
    if constexpr (LearnsOptions<T>)
      learned_.emplace(T::kName,
                       std::vector<std::string>(std::begin(T::kLearns), std::end(T::kLearns)));
    AddKind<T>("operator", [](const T& options, std::optional<Dataset> input) -> Result<Dataset> {
      if (!input)
        return InvalidArgument("{}: there is nothing to work on; begin the pipeline with a source",
                               T::kName);
      return options.Build(*std::move(input));
    });
  }

  // Returns whether there is an operator `name` that arranges.
  bool Arranges(std::string_view name) const { return arranging_.contains(name); }

  // Returns the operator of an entry whose options are to be learned, and the option that says so:
  // {normalize: auto} or {normalize: {mean: auto, field: x}}. Nothing for any other entry.
  std::optional<AskedStage> Asks(const ConfigNode& entry) const;
  // Returns the options that the operator `name` can learn; none for most.
  const std::vector<std::string>& LearnedOptions(std::string_view name) const;

  // Returns all operators: Stoker's own and those that were added (run/kinds.h).
  static const OperatorRegistry& Known() { return ToAddTo(); }
  // Returns the same, to be changed before recipes are read.
  static OperatorRegistry& ToAddTo();

 private:
  std::set<std::string, std::less<>> arranging_;
  std::map<std::string, std::vector<std::string>, std::less<>> learned_;
};

// Generated: adds the operators in sources/, ops/ and transforms/.
void RegisterBuiltinOperators(OperatorRegistry& registry);

// The key beside an operator in its entry of the list for elements that fail there
// (ops/ignore_errors.h). `on_error: OPTIONS` means that `ignore_errors: OPTIONS` follows directly.
inline constexpr std::string_view kOnError = "on_error";

// Reads one entry of a pipeline's list: `name`, {name: options}, or {name: options, on_error: ...}.
Result<OperatorRegistry::Configured> ParseStage(const ConfigNode& entry,
                                                const std::filesystem::path& root = {});

// Reads `pipeline`, a list with one operator an entry, into a Dataset. Relative paths start at
// `root`. Errors begin with file, line and column. `filled` (may be null) receives the list with
// every option filled in.
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
  return CheckDepth(options.Build(*std::move(input)));
}

}  // namespace stoker
