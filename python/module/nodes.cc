#include "python/module/nodes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "python/module/errors.h"
#include "stoker/base/config_scalar.h"
#include "stoker/data/learn/requests.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/data_section.h"
#include "stoker/data/recipe/learned_section.h"
#include "stoker/data/recipe/memory_options.h"
#include "stoker/data/recipe/recipe.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr int kDeepest = 64;  // as ParseYaml

std::string TypeName(nb::handle value) {
  return nb::cast<std::string>(value.type().attr("__name__"));
}

// A number keeps the digits that Python prints; whole floats lose their ".0", since whole numbers
// are options too.
std::string NumberText(nb::handle value) {
  std::string text = nb::cast<std::string>(nb::repr(value));
  if (text.size() > 2 && text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

class Converter {
 public:
  explicit Converter(ConfigLocation where) : where_(std::move(where)) {}

  ConfigNode Convert(nb::handle value, int depth) const {
    ConfigNode node = Made(value, depth);
    node.location = where_;
    return node;
  }

 private:
  ConfigNode Made(nb::handle value, int depth) const {
    if (depth > kDeepest) {
      throw StatusError(InvalidArgument(
          "{}: a value is nested more than {} levels deep, or holds itself; give a flat one",
          where_.ToString(), kDeepest));
    }
    if (value.is_none()) return {};
    if (nb::isinstance<nb::bool_>(value))
      return ConfigNode::Scalar(nb::cast<bool>(value) ? "true" : "false");
    if (nb::isinstance<nb::int_>(value)) return ConfigNode::Scalar(NumberText(nb::int_(value)));
    if (nb::isinstance<nb::float_>(value)) return ConfigNode::Scalar(NumberText(nb::float_(value)));
    if (nb::isinstance<nb::str>(value)) return TextNode(value);
    if (nb::hasattr(value, "_nodes")) return PipelineNode(value);
    if (nb::hasattr(value, "__fspath__")) return TextNode(value.attr("__fspath__")());
    if (nb::isinstance<nb::dict>(value)) return MapNode(nb::borrow<nb::dict>(value), depth);
    if (nb::hasattr(value, "tolist")) return Convert(value.attr("tolist")(), depth + 1);
    if (PySequence_Check(value.ptr()) != 0 && PyBytes_Check(value.ptr()) == 0)
      return ListNode(value, depth);
    throw StatusError(
        InvalidArgument("{}: a value of type {} is no option; give numbers, texts, paths, lists, "
                        "dicts or pipelines",
                        where_.ToString(), TypeName(value)));
  }

  // In quotes only what would be another type without them.
  static ConfigNode TextNode(nb::handle value) {
    std::string text = nb::cast<std::string>(value);
    const bool quoted = LooksLikeBool(text) || LooksLikeNumber(text) || LooksLikeNull(text);
    return ConfigNode::Scalar(std::move(text), quoted);
  }

  static ConfigNode PipelineNode(nb::handle value) {
    std::vector<ConfigNode> items;
    for (const nb::handle node : nb::borrow<nb::iterable>(value.attr("_nodes")))
      items.push_back(nb::cast<ConfigNode>(node));
    return ConfigNode::List(std::move(items));
  }

  ConfigNode MapNode(const nb::dict& map, int depth) const {
    std::vector<ConfigNode::Entry> entries;
    for (const auto& [key, value] : map) {
      if (!nb::isinstance<nb::str>(key)) {
        throw StatusError(
            InvalidArgument("{}: a key of type {} is none of an option; keys are texts",
                            where_.ToString(), TypeName(key)));
      }
      entries.push_back({nb::cast<std::string>(key), where_, Convert(value, depth + 1)});
    }
    return ConfigNode::Map(std::move(entries));
  }

  ConfigNode ListNode(nb::handle list, int depth) const {
    std::vector<ConfigNode> items;
    for (const nb::handle item : nb::borrow<nb::iterable>(list))
      items.push_back(Convert(item, depth + 1));
    return ConfigNode::List(std::move(items));
  }

  const ConfigLocation where_;
};

// One entry of a pipeline. `options` and `on_error` are dicts or None.
//   unfinished  options that are required may be missing: the pipeline of interleave, whose source
//   omits its file
ConfigNode MakeStage(const std::string& name, nb::handle options, nb::handle on_error,
                     const std::string& where, bool unfinished) {
  const Converter converter(PlaceOf(where));
  if (options.is_none() && on_error.is_none()) {
    ConfigNode plain = ConfigNode::Scalar(name);
    plain.location = PlaceOf(where);
    if (!unfinished) Check(ParseStage(plain).status());
    return plain;
  }
  ConfigNode value = converter.Convert(options, 0);
  std::vector<ConfigNode::Entry> entries{{name, PlaceOf(where), std::move(value)}};
  if (!on_error.is_none())
    entries.push_back({std::string(kOnError), PlaceOf(where), converter.Convert(on_error, 0)});
  ConfigNode stage = ConfigNode::Map(std::move(entries));
  stage.location = PlaceOf(where);
  if (!unfinished) Check(ParseStage(stage).status());
  return stage;
}

std::vector<ConfigNode> ParsePipeline(const std::string& text, const std::string& name) {
  ConfigNode list = Take(ParseYaml(text, name));
  if (list.kind != ConfigNode::Kind::kList || list.items.empty()) {
    throw StatusError(
        InvalidArgument("{}: a pipeline is a list that begins with a source, such as [idx: "
                        "{{images: ...}}, shuffle, batch]; here is {}",
                        list.location.ToString(), list.KindName()));
  }
  return list.items;
}

// What `stoker train` would read as the pipeline `section` of a recipe.
struct RecipePipeline {
  std::vector<ConfigNode> stages;
  std::string root;
  std::vector<std::string> classes;
};

RecipePipeline ReadPipeline(const std::string& file, const std::string& section,
                            const std::vector<std::string>& set) {
  const ConfigNode recipe = Take(ReadRecipe(file, set));
  if (const ConfigNode* plugins = recipe.Find("plugins"); plugins != nullptr) {
    throw StatusError(
        Unimplemented("{}: plug-ins are loaded by the program `stoker` and not by the Python "
                      "package; use sk.map for code of your own",
                      plugins->location.ToString()));
  }
  const ConfigNode& data = *Take(DataSection(recipe));
  const DataOptions options = Take(ParseDataOptions(data));
  Check(CheckShared(data));
  std::optional<ConfigNode> list;
  if (section == "train" || section == "eval") list = WholePipeline(data, section);
  if (!list) {
    throw StatusError(
        InvalidArgument("{}: there is no pipeline data.{}; a recipe has train and may have eval",
                        data.location.ToString(), section));
  }
  if (list->kind != ConfigNode::Kind::kList || list->items.empty()) {
    throw StatusError(InvalidArgument("{}: data.{} is {}; it is a list that begins with a source",
                                      list->location.ToString(), section, list->KindName()));
  }
  Check(WishForMemoryOf(recipe));
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const std::filesystem::path root = AbsoluteRoot(data, options.root, folder);
  const auto learned = Take(LearnedFor(recipe, *list, root, folder));
  return {Take(FillInLearned(*list, learned.get())).items, root.string(), options.classes};
}

std::string StageName(const ConfigNode& stage) {
  return stage.kind == ConfigNode::Kind::kScalar || stage.entries.empty()
             ? stage.scalar
             : stage.entries.front().key;
}

// The same stage with one option set.
ConfigNode WithOption(const ConfigNode& stage, const std::string& option, nb::handle value,
                      const std::string& where) {
  ConfigNode changed = stage;
  if (changed.kind == ConfigNode::Kind::kScalar) {
    changed = ConfigNode::Map({{stage.scalar, stage.location, {}}});
    changed.location = stage.location;
  }
  ConfigNode& options = changed.entries.front().value;
  if (options.kind != ConfigNode::Kind::kMap) {
    const OperatorRegistry::Configured filled = Take(ParseStage(stage));
    options = filled.node.entries.front().value;
  }
  ConfigNode made = NodeOf(value, PlaceOf(where));
  if (ConfigNode* given = options.Find(option); given != nullptr) {
    *given = std::move(made);
  } else {
    options.entries.push_back({option, PlaceOf(where), std::move(made)});
  }
  Check(ParseStage(changed).status());
  return changed;
}

}  // namespace

ConfigLocation PlaceOf(const std::string& where) {
  return {std::make_shared<const std::string>(where), 0, 0};
}

ConfigNode NodeOf(nb::handle value, const ConfigLocation& where) {
  return Converter(where).Convert(value, 0);
}

void AddNodes(nb::module_& module) {
  nb::class_<ConfigNode>(
      module, "Node", "One entry of a pipeline: an operator and its options, as recipes write it.",
      nb::dynamic_attr())
      .def_prop_ro("name", &StageName, "The operator.")
      .def(
          "line", [](const ConfigNode& node) { return ToYamlLine(node); },
          "The entry in one line of YAML.")
      .def(
          "filled", [](const ConfigNode& node) { return ToYamlLine(Take(ParseStage(node)).node); },
          "The entry with every option, in one line of YAML.")
      .def_prop_ro(
          "where", [](const ConfigNode& node) { return node.location.ToString(); },
          "Where it was written.")
      .def("with_option", &WithOption, nb::arg("option"), nb::arg("value").none(), nb::arg("where"),
           "The same entry with one option set.");
  module.def("make_stage", &MakeStage, nb::arg("name"), nb::arg("options").none(),
             nb::arg("on_error").none(), nb::arg("where"), nb::arg("unfinished") = false,
             "Makes and checks one entry of a pipeline.");
  module.def("parse_pipeline", &ParsePipeline, nb::arg("text"), nb::arg("name"),
             "Reads a list of entries from YAML.");
  module.def(
      "to_yaml",
      [](std::vector<ConfigNode> nodes) { return ToYaml(ConfigNode::List(std::move(nodes))); },
      nb::arg("nodes"), "Writes entries as YAML, one a line.");
  module.def(
      "read_pipeline",
      [](const std::string& file, const std::string& section, const std::vector<std::string>& set) {
        RecipePipeline read = ReadPipeline(file, section, set);
        return std::tuple(std::move(read.stages), std::move(read.root), std::move(read.classes));
      },
      nb::arg("file"), nb::arg("section"), nb::arg("set"),
      "Reads a pipeline of a recipe: entries, root, class names.");
}

}  // namespace stoker::python
