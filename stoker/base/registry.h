// Registry: the kinds of one noun (operators, models, optimizers, ...) by the names they have in a
// recipe.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/base/problems.h"

namespace stoker {

// One kind as `stoker inspect --ops` describes it.
struct KindDescription {
  std::string name;
  std::string help;
  std::string group;  // "source", "operator", "transform", ...
  std::vector<Option> options;
  ConfigNode defaults;  // every option with its default
};

// An entry `name` or {name: options}, split, with its name checked against `names`; the error names
// the nearest one.
struct NamedOptions {
  std::string name;
  ConfigNode options;
};
Result<NamedOptions> SplitNamedOptions(const ConfigNode& node, std::string_view noun,
                                       const std::vector<std::string>& names);

// Makes a Made from Args. Generated code (cmake/StokerRegistry.cmake) and kinds of one's own
// (run/kinds.h) fill it at start; after that it is only read.
template <typename Made, typename... Args>
class Registry {
 public:
  // One entry of a recipe, read and checked: `batch: {size: 128}`.
  struct Configured {
    std::string name;
    // {name: {every option, defaults filled in}}, for --print-recipe and for comparing recipes.
    ConfigNode node;
    ConfigLocation location;
    std::function<Result<Made>(Args...)> build;
  };

  // Converts an exception.
  using StatusOfThrown = Status (*)(const std::exception&);

  //   noun              what messages call an entry: "operator", "model"
  //   status_of_thrown  makes a Status of what a kind throws while it is built; the registry adds
  //                     the kind's name. Null if kinds throw nothing
  explicit Registry(std::string noun, StatusOfThrown status_of_thrown = nullptr)
      : noun_(std::move(noun)), status_of_thrown_(status_of_thrown) {}

  // Adds kind T: T::kName, T::kHelp, T::Describe, default-constructible; `build` makes a Made from
  // a T.
  template <typename T>
  void AddKind(std::string group, std::function<Result<Made>(const T&, Args...)> build) {
    const T defaults{};
    Kind kind;
    kind.description = {std::string(T::kName), std::string(T::kHelp), std::move(group),
                        OptionsOf<T>(), FormatOptions(OptionsOf<T>(), &defaults)};
    kind.parse = [build, status_of = status_of_thrown_](
                     const ConfigNode& options, std::string_view title,
                     const std::filesystem::path& root) -> Result<Configured> {
      auto object = std::make_shared<T>();
      STOKER_RETURN_IF_ERROR(ParseOptions(OptionsOf<T>(), title, options, object.get()));
      ConfigNode filled = FormatOptions(OptionsOf<T>(), object.get());
      ResolvePaths(OptionsOf<T>(), root, object.get());
      return Configured{.name = std::string(T::kName),
                        .node = ConfigNode::Map({{std::string(T::kName), {}, std::move(filled)}}),
                        .location = options.location,
                        .build = [build, object, status_of](Args... args) -> Result<Made> {
                          if (status_of == nullptr) {
                            return build(*object, std::forward<Args>(args)...);
                          }
                          try {
                            return build(*object, std::forward<Args>(args)...);
                          } catch (const std::exception& error) {
                            return WithPrefix(fmt::format("{}: ", T::kName), status_of(error));
                          }
                        }};
    };
    kinds_.push_back(std::move(kind));
  }

  // Reads `name`, or a map with the one key `name`. Relative paths among the options start at
  // `root`.
  Result<Configured> Parse(const ConfigNode& node, const std::filesystem::path& root = {}) const {
    STOKER_ASSIGN_OR_RETURN(const NamedOptions named, SplitNamedOptions(node, noun_, Names()));
    return ParseOptionsOfKind(named.name, named.options, named.name, root);
  }

  // Reads the options of the kind `name`, one of Names(), from a place of a recipe that messages
  // call `title`.
  Result<Configured> ParseOptionsOfKind(std::string_view name, const ConfigNode& options,
                                        std::string_view title,
                                        const std::filesystem::path& root = {}) const {
    for (const Kind& kind : kinds_) {
      if (kind.description.name == name) return kind.parse(options, title, root);
    }
    return Internal("{}: {} '{}' is named but not registered", options.location.ToString(), noun_,
                    name);
  }

  std::vector<KindDescription> Describe() const {
    std::vector<KindDescription> all;
    for (const Kind& kind : kinds_) all.push_back(kind.description);
    return all;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Kind& kind : kinds_) names.push_back(kind.description.name);
    return names;
  }

 private:
  struct Kind {
    KindDescription description;
    std::function<Result<Configured>(const ConfigNode& options, std::string_view title,
                                     const std::filesystem::path& root)>
        parse;
  };
  std::string noun_;
  StatusOfThrown status_of_thrown_;
  std::vector<Kind> kinds_;
};

}  // namespace stoker
