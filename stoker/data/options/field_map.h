// Fields by name, each with its own options, as one option: in a recipe a map.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/options.h"
#include "stoker/base/problems.h"

namespace stoker {

// F has a `name`, in a recipe the key, and the options in OptionsOf: `{age: int64}`, or `{image:
// {columns: 1-784}}`.
template <typename F>
class FieldMap {
 public:
  static constexpr std::string_view kTypeName = "map of fields";

  FieldMap() = default;
  FieldMap(std::initializer_list<F> fields) : fields_(fields) {}
  explicit FieldMap(std::vector<F> fields) : fields_(std::move(fields)) {}

  bool empty() const { return fields_.empty(); }
  const std::vector<F>& fields() const { return fields_; }

  // See OptionObject.
  Status Read(const ConfigNode& node) {
    if (node.kind != ConfigNode::Kind::kMap)
      return InvalidArgument("{} is not a map of fields, such as {{age: int64}}", node.KindName());
    fields_.clear();
    Problems problems;
    for (const ConfigNode::Entry& entry : node.entries) {
      F field;
      problems.Add(ParseOptions(OptionsOf<F>(), entry.key, entry.value, &field));
      field.name = entry.key;
      fields_.push_back(std::move(field));
    }
    return problems.ToStatus();
  }
  ConfigNode Write() const {
    std::vector<ConfigNode::Entry> entries;
    for (const F& field : fields_)
      entries.push_back({field.name, {}, FormatOptions(OptionsOf<F>(), &field)});
    return ConfigNode::Map(std::move(entries));
  }
  void Resolve(const std::filesystem::path&) {}

 private:
  std::vector<F> fields_;
};

}  // namespace stoker
