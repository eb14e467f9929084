// One description of an operator's options, from which come the recipe keys, the checks, the error texts and the help.
//
//   struct Batch {
//     static constexpr std::string_view kName = "batch";
//     static constexpr std::string_view kHelp = "Stacks consecutive elements along a new first dimension.";
//     int64_t size = 32;
//     bool drop_remainder = false;
//     static void Describe(OptionTable<Batch>& table) {
//       table.Field("size", &Batch::size, "elements in a batch", AtLeast(1))
//            .Field("drop_remainder", &Batch::drop_remainder, "leave out a last batch that is not full");
//     }
//   };
//
// In a recipe, `batch: {size: 128}` sets fields by name, `batch: 128` sets the first field, `batch` takes all defaults.
#pragma once

#include <any>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// The closed range that a number, or every number of a list, must lie in.
struct OptionRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;  // greater than, not equal to, `low`
};
inline OptionRange AtLeast(double low) { return {.low = low}; }
inline OptionRange MoreThan(double low) { return {.low = low, .low_open = true}; }
inline OptionRange Between(double low, double high) { return {.low = low, .high = high}; }

// The texts that a string option may take.
struct OneOf {
  std::vector<std::string> choices;
};

// The types an option may have. A list accepts a bare value as a list of one. A path is taken relative to the folder
// given to ParseOptions. An optional that is not set prints as `auto` and accepts `auto`.
template <typename V>
concept OptionValue =
    std::same_as<V, bool> || std::same_as<V, int64_t> || std::same_as<V, double> || std::same_as<V, std::string> ||
    std::same_as<V, std::filesystem::path> || std::same_as<V, std::vector<int64_t>> ||
    std::same_as<V, std::vector<double>> || std::same_as<V, std::vector<std::string>> ||
    std::same_as<V, std::optional<int64_t>> || std::same_as<V, std::optional<double>>;

// One option, its owner's type erased: `object` points to the options struct.
struct Option {
  std::string name;
  std::string type;         // "integer", "number", "true or false", "text", "path", "list of numbers", ...
  std::string constraint;   // ">= 1", "0..1", "one of: a, b"; empty where there is none
  std::string help;
  bool required = false;
  std::function<Status(void* object, const ConfigNode& value)> set;    // converts and checks
  std::function<ConfigNode(const void* object)> get;
  std::function<Status(const void* object)> check;                     // the constraint alone
  std::function<void(void* object, const std::filesystem::path& root)> resolve;  // paths; empty for other types
};

// Converts `value`, checks it against `range` or `choices`, and writes it. Defined for every OptionValue in options.cc.
template <OptionValue V>
Status ReadOption(const ConfigNode& value, V& out);
template <OptionValue V>
ConfigNode WriteOption(const V& value);
template <OptionValue V>
std::string OptionTypeName();
template <OptionValue V>
Status CheckRange(const V& value, const OptionRange& range);
template <OptionValue V>
void ResolvePath(V& value, const std::filesystem::path& root);
Status CheckChoice(const std::string& value, const OneOf& choices);
std::string RangeText(const OptionRange& range);
std::string ChoicesText(const OneOf& choices);

template <typename T>
class OptionTable {
 public:
  template <OptionValue V>
  OptionTable& Field(std::string_view name, V T::*member, std::string_view help) {
    return Add<V>(name, member, help, "", [](const V&) { return OkStatus(); });
  }
  template <OptionValue V>
  OptionTable& Field(std::string_view name, V T::*member, std::string_view help, OptionRange range) {
    return Add<V>(name, member, help, RangeText(range), [range](const V& value) { return CheckRange(value, range); });
  }
  OptionTable& Field(std::string_view name, std::string T::*member, std::string_view help, OneOf choices) {
    return Add<std::string>(name, member, help, ChoicesText(choices),
                            [choices](const std::string& value) { return CheckChoice(value, choices); });
  }
  // The field added last has no sensible default: leaving it out is an error.
  OptionTable& Required() {
    options_.back().required = true;
    return *this;
  }

  const std::vector<Option>& options() const { return options_; }

 private:
  template <typename V>
  OptionTable& Add(std::string_view name, V T::*member, std::string_view help, std::string constraint,
                   std::function<Status(const V&)> check) {
    const auto field = [member](void* object) -> V& { return static_cast<T*>(object)->*member; };
    const auto const_field = [member](const void* object) -> const V& { return static_cast<const T*>(object)->*member; };
    Option option{.name = std::string(name), .type = OptionTypeName<V>(), .constraint = std::move(constraint),
                  .help = std::string(help)};
    option.set = [field, check](void* object, const ConfigNode& value) {
      V read{};
      STOKER_RETURN_IF_ERROR(ReadOption(value, read));
      STOKER_RETURN_IF_ERROR(check(read));
      field(object) = std::move(read);
      return OkStatus();
    };
    option.get = [const_field](const void* object) { return WriteOption(const_field(object)); };
    option.check = [const_field, check](const void* object) { return check(const_field(object)); };
    if constexpr (std::same_as<V, std::filesystem::path>) {
      option.resolve = [field](void* object, const std::filesystem::path& root) { ResolvePath(field(object), root); };
    }
    options_.push_back(std::move(option));
    return *this;
  }

  std::vector<Option> options_;
};

// The described options of T, built once.
template <typename T>
const std::vector<Option>& OptionsOf() {
  static const OptionTable<T> table = [] {
    OptionTable<T> made;
    T::Describe(made);
    return made;
  }();
  return table.options();
}

// Reads `node` (a map, a bare value for the first field, or nothing) into `object`. `what` names the owner in messages.
// Errors say "file:line:column: what: ...", name the nearest known key for an unknown one, and the range for a value
// outside it. Paths are taken relative to `root` (not where empty).
Status ParseOptions(const std::vector<Option>& options, std::string_view what, const ConfigNode& node, void* object);
void ResolvePaths(const std::vector<Option>& options, const std::filesystem::path& root, void* object);

// Every option with its present value, as a map.
ConfigNode FormatOptions(const std::vector<Option>& options, const void* object);

// Checks options that were set in C++: "batch: size is 0; it must be >= 1".
Status CheckOptions(const std::vector<Option>& options, std::string_view what, const void* object);

template <typename T>
Status ParseOptionsOf(const ConfigNode& node, T& object) {
  return ParseOptions(OptionsOf<T>(), T::kName, node, &object);
}
template <typename T>
Status CheckOptionsOf(const T& object) {
  return CheckOptions(OptionsOf<T>(), T::kName, &object);
}

}  // namespace stoker
