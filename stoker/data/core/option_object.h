// Options whose value is more than a number or a text: pipelines, file patterns. They describe and
// read themselves; base/options.h handles the plain types.
//
//   struct Zip {
//     Pipelines inputs;                                    // an OptionObject
//     bool strict = false;
//     static void Describe(OptionTable<Zip>& table);       // the plain options
//   }; template <> const std::vector<Option>& OptionsOf<Zip>(); // in the header, after the struct
//
//   template <>                                            // in the .cc: the objects come first,
//                                                          // or WithObjectsBehind: last
//   const std::vector<Option>& OptionsOf<Zip>() {
//     static const auto options = WithObjects<Zip>({ObjectOption("inputs", &Zip::inputs, "...")});
//     return options;
//   }
#pragma once

#include <concepts>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/options.h"

namespace stoker {

// kTypeName names the type in help texts. Read takes the value from a recipe; its errors need not
// name the option. Write returns every option with its defaults filled in, in the form that Read
// accepts. Resolve makes paths absolute: called once after Read, before the value is used; `root`
// may be empty.
template <typename V>
concept OptionObject = std::default_initializable<V> &&
    requires(V& value, const V& constant, const ConfigNode& node,
             const std::filesystem::path& root) {
  { V::kTypeName } -> std::convertible_to<std::string_view>;
  { value.Read(node) } -> std::same_as<Status>;
  { constant.Write() } -> std::same_as<ConfigNode>;
  {value.Resolve(root)};
};

template <typename T, OptionObject V>
Option ObjectOption(std::string_view name, V T::*member, std::string_view help,
                    bool required = false) {
  Option option{.name = std::string(name),
                .type = std::string(V::kTypeName),
                .help = std::string(help),
                .required = required};
  option.set = [member](void* object, const ConfigNode& value) {
    return (static_cast<T*>(object)->*member).Read(value);
  };
  option.get = [member](const void* object) {
    return (static_cast<const T*>(object)->*member).Write();
  };
  option.check = [](const void*) { return OkStatus(); };
  option.resolve = [member](void* object, const std::filesystem::path& root) {
    (static_cast<T*>(object)->*member).Resolve(root);
  };
  return option;
}

// Returns `objects` followed by the options that T describes.
template <typename T>
std::vector<Option> WithObjects(std::vector<Option> objects) {
  OptionTable<T> plain;
  T::Describe(plain);
  objects.insert(objects.end(), plain.options().begin(), plain.options().end());
  return objects;
}

// Returns the options that T describes followed by `objects`; the first option needs no name: `npz:
// FILE`.
template <typename T>
std::vector<Option> WithObjectsBehind(const std::vector<Option>& objects) {
  OptionTable<T> plain;
  T::Describe(plain);
  std::vector<Option> all = plain.options();
  all.insert(all.end(), objects.begin(), objects.end());
  return all;
}

}  // namespace stoker
