// One description of an operator's options. The recipe keys, the checks, the error texts and the
// help all come from it.
//
//   struct Batch {
//     static constexpr std::string_view kName = "batch";
//     static constexpr std::string_view kHelp = "Stacks consecutive elements.";
//     int64_t size = 32;
//     bool drop_remainder = false;
//     static void Describe(OptionTable<Batch>& table) {
//       table.Field("size", &Batch::size, "elements in a batch", AtLeast(1))
//           .Field("drop_remainder", &Batch::drop_remainder, "leave out a last batch not full");
//     }
//   };
//
// In a recipe, `batch: {size: 128}` sets fields by name, `batch: 128` sets the first field, `batch`
// takes all defaults.
#pragma once

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

// The types that an option may have. A list accepts a bare value as a list of one. A path is
// relative to the folder given to ResolvePaths. An optional without a value prints as `auto` and
// accepts `auto`.
template <typename V>
concept OptionValue = std::same_as<V, bool> || std::same_as<V, int64_t> ||
    std::same_as<V, double> || std::same_as<V, std::string> ||
    std::same_as<V, std::filesystem::path> || std::same_as<V, std::vector<int64_t>> ||
    std::same_as<V, std::vector<double>> || std::same_as<V, std::vector<std::string>> ||
    std::same_as<V, std::optional<int64_t>> || std::same_as<V, std::optional<double>>;

// One option, with the type of its struct erased: `object` points to the struct.
struct Option {
  std::string name;
  std::string type;  // "integer", "number", "true or false", "text", "path", "list of numbers", ...
  std::string constraint;  // ">= 1", "0..1", "one of: a, b"; empty if there is none
  std::string help;
  bool required = false;
  // Converts; does not check the constraint.
  std::function<Status(void* object, const ConfigNode& value)> set;
  std::function<ConfigNode(const void* object)> get;
  std::function<Status(const void* object)> check;  // the constraint alone
  // Makes a relative path absolute; empty for other types.
  std::function<void(void* object, const std::filesystem::path& root)> resolve;
};

// Converts `value` and writes it to `out`, which keeps its value on errors. The message says what
// is wrong with the value ("'x' is not an integer"); ParseOptions prepends place and name.
//   integers  decimal, or 1e6 and 2.5e3 if that is whole; within 64 bits
//   numbers   decimal with or without fraction and exponent; finite
//   bool      true or false, nothing else
Status ReadOption(const ConfigNode& value, bool& out);
Status ReadOption(const ConfigNode& value, int64_t& out);
Status ReadOption(const ConfigNode& value, double& out);
Status ReadOption(const ConfigNode& value, std::string& out);
Status ReadOption(const ConfigNode& value, std::filesystem::path& out);
Status ReadOption(const ConfigNode& value, std::vector<int64_t>& out);
Status ReadOption(const ConfigNode& value, std::vector<double>& out);
Status ReadOption(const ConfigNode& value, std::vector<std::string>& out);
Status ReadOption(const ConfigNode& value, std::optional<int64_t>& out);
Status ReadOption(const ConfigNode& value, std::optional<double>& out);

// The inverse of ReadOption.
ConfigNode WriteOption(bool value);
ConfigNode WriteOption(int64_t value);
ConfigNode WriteOption(double value);
ConfigNode WriteOption(const std::string& value);
ConfigNode WriteOption(const std::filesystem::path& value);
ConfigNode WriteOption(const std::vector<int64_t>& value);
ConfigNode WriteOption(const std::vector<double>& value);
ConfigNode WriteOption(const std::vector<std::string>& value);
ConfigNode WriteOption(const std::optional<int64_t>& value);
ConfigNode WriteOption(const std::optional<double>& value);

template <OptionValue V>
std::string OptionTypeName() {
  if constexpr (std::same_as<V, bool>) return "true or false";
  if constexpr (std::same_as<V, int64_t>) return "integer";
  if constexpr (std::same_as<V, double>) return "number";
  if constexpr (std::same_as<V, std::string>) return "text";
  if constexpr (std::same_as<V, std::filesystem::path>) return "path";
  if constexpr (std::same_as<V, std::vector<int64_t>>) return "list of integers";
  if constexpr (std::same_as<V, std::vector<double>>) return "list of numbers";
  if constexpr (std::same_as<V, std::vector<std::string>>) return "list of texts";
  if constexpr (std::same_as<V, std::optional<int64_t>>) return "integer or auto";
  if constexpr (std::same_as<V, std::optional<double>>) return "number or auto";
}
// Returns an error such as "is 0; it must be >= 1" if the value lies outside the range.
Status CheckRange(int64_t value, const OptionRange& range);
Status CheckRange(double value, const OptionRange& range);
Status CheckRange(const std::vector<int64_t>& values, const OptionRange& range);
Status CheckRange(const std::vector<double>& values, const OptionRange& range);
Status CheckRange(const std::optional<int64_t>& value, const OptionRange& range);
Status CheckRange(const std::optional<double>& value, const OptionRange& range);
void ResolvePath(std::filesystem::path& value, const std::filesystem::path& root);
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
  OptionTable& Field(std::string_view name, V T::*member, std::string_view help,
                     OptionRange range) {
    return Add<V>(name, member, help, RangeText(range),
                  [range](const V& value) { return CheckRange(value, range); });
  }
  OptionTable& Field(std::string_view name, std::string T::*member, std::string_view help,
                     OneOf choices) {
    return Add<std::string>(
        name, member, help, ChoicesText(choices),
        [choices](const std::string& value) { return CheckChoice(value, choices); });
  }
  // Makes it an error to omit the field added last, which has no sensible default.
  OptionTable& Required() {
    options_.back().required = true;
    return *this;
  }

  const std::vector<Option>& options() const { return options_; }

 private:
  template <typename V>
  OptionTable& Add(std::string_view name, V T::*member, std::string_view help,
                   std::string constraint, std::function<Status(const V&)> check) {
    const auto field = [member](void* object) -> V& { return static_cast<T*>(object)->*member; };
    const auto const_field = [member](const void* object) -> const V& {
      return static_cast<const T*>(object)->*member;
    };
    Option option{.name = std::string(name),
                  .type = OptionTypeName<V>(),
                  .constraint = std::move(constraint),
                  .help = std::string(help)};
    option.set = [field](void* object, const ConfigNode& value) {
      V read{};
      STOKER_RETURN_IF_ERROR(ReadOption(value, read));
      field(object) = std::move(read);
      return OkStatus();
    };
    option.get = [const_field](const void* object) { return WriteOption(const_field(object)); };
    option.check = [const_field, check](const void* object) { return check(const_field(object)); };
    if constexpr (std::same_as<V, std::filesystem::path>) {
      option.resolve = [field](void* object, const std::filesystem::path& root) {
        ResolvePath(field(object), root);
      };
    }
    options_.push_back(std::move(option));
    return *this;
  }

  std::vector<Option> options_;
};

// Returns the options that T describes, built once.
template <typename T>
const std::vector<Option>& OptionsOf() {
  static const OptionTable<T> table = [] {
    OptionTable<T> made;
    T::Describe(made);
    return made;
  }();
  return table.options();
}

// Reads `node` (a map, a bare value for the first field, or nothing) into `object`. `what` names
// the owner in messages. On errors `object` is left half-written. Messages:
//   recipe.yaml:12:7: batch: unknown option 'sise'; did you mean 'size'?
//   recipe.yaml:12:7: batch.size: 'x' is not an integer
//   recipe.yaml:12:7: batch.size is 0; it must be >= 1
//   recipe.yaml:3:5: idx: option 'images' is required (path: the images, an IDX file)
Status ParseOptions(const std::vector<Option>& options, std::string_view what,
                    const ConfigNode& node, void* object);
// Resolves relative paths among the options against `root`; does nothing if that is empty.
void ResolvePaths(const std::vector<Option>& options, const std::filesystem::path& root,
                  void* object);

// Returns a map of every option with its present value.
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
