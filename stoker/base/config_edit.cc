// Changing and comparing recipes.
#include <algorithm>
#include <charconv>

#include "stoker/base/config.h"
#include "stoker/base/config_scalar.h"
#include "stoker/base/named_kind.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

constexpr auto kMaxPathParts = 64;  // as deep as ParseYaml reads

using Kind = ConfigNode::Kind;

void SetLocation(ConfigNode& node, const ConfigLocation& location) {
  node.location = location;
  for (ConfigNode& item : node.items) SetLocation(item, location);
  for (ConfigNode::Entry& entry : node.entries) {
    entry.key_location = location;
    SetLocation(entry.value, location);
  }
}

std::string OperatorNames(const ConfigNode& list) {
  std::string names;
  for (const ConfigNode& item : list.items) {
    const std::string_view name = NamedKind(item);
    if (!name.empty()) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names.empty() ? "none" : names;
}

// Walks the path of one --set.
class PathSetter {
 public:
  PathSetter(std::string_view path, ConfigNode value)
      : path_(path),
        location_{std::make_shared<const std::string>(fmt::format("--set {}", path)), 0, 0},
        value_(std::move(value)) {
    SetLocation(value_, location_);
  }

  // Sets the value at `rest`, the part of the path that begins at `node`.
  Status Set(ConfigNode& node, std::string_view rest) {
    const size_t dot = rest.find('.');
    const std::string_view step = rest.substr(0, dot);
    if (node.kind == Kind::kList) {
      STOKER_ASSIGN_OR_RETURN(ConfigNode * item, FindItem(node, step));
      const bool by_number = NamedKind(*item) != step;
      if (by_number) return dot == rest.npos ? Put(*item) : Set(*item, rest.substr(dot + 1));
      return Set(*item, rest);
    }
    STOKER_RETURN_IF_ERROR(MakeMap(node, step));
    ConfigNode* child = node.Find(step);
    if (child == nullptr) {
      node.entries.push_back({std::string(step), location_, {}});
      child = &node.entries.back().value;
      child->location = location_;
    }
    return dot == rest.npos ? Put(*child) : Set(*child, rest.substr(dot + 1));
  }

 private:
  Status Put(ConfigNode& target) {
    target = std::move(value_);
    return OkStatus();
  }

  // `adamw` becomes `adamw: {}` when the path goes on into it; nothing becomes a map; other values
  // are in the way.
  Status MakeMap(ConfigNode& node, std::string_view step) const {
    if (node.kind == Kind::kMap) return OkStatus();
    if (node.kind == Kind::kNull) {
      node.kind = Kind::kMap;
      return OkStatus();
    }
    if (node.scalar == step) {
      ConfigNode map = ConfigNode::Map({{node.scalar, node.location, {}}});
      map.location = map.entries[0].value.location = node.location;
      node = std::move(map);
      return OkStatus();
    }
    return InvalidArgument("{}: '{}' leads through the value '{}' ({}); set that to a map first",
                           location_.ToString(), step, ShortText(node.scalar),
                           node.location.ToString());
  }

  Result<ConfigNode*> FindItem(ConfigNode& list, std::string_view step) const {
    std::vector<ConfigNode*> named;
    for (ConfigNode& item : list.items) {
      if (NamedKind(item) == step) named.push_back(&item);
    }
    if (named.size() == 1) return named[0];
    if (named.size() > 1) {
      return InvalidArgument(
          "{}: '{}' is {} times in the list at {}; name it by its number, from 0",
          location_.ToString(), step, named.size(), list.location.ToString());
    }
    size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error != std::errc() || end != step.data() + step.size()) {
      return InvalidArgument("{}: '{}' is not in the list at {}; name one of: {}",
                             location_.ToString(), step, list.location.ToString(),
                             OperatorNames(list));
    }
    if (index >= list.items.size()) {
      return InvalidArgument(
          "{}: there is no number {} in the list at {}; it has {}, counted from 0",
          location_.ToString(), index, list.location.ToString(), list.items.size());
    }
    return &list.items[index];
  }

  const std::string_view path_;
  const ConfigLocation location_;
  ConfigNode value_;
};

// Whether the text stands for itself, not for a number or a truth value.
bool IsText(const ConfigNode& node) {
  return node.quoted || !(LooksLikeNumber(node.scalar) || LooksLikeBool(node.scalar));
}

bool IsPlainList(const ConfigNode& node) {
  return node.kind == Kind::kList &&
         std::all_of(node.items.begin(), node.items.end(), [](const ConfigNode& item) {
           return item.kind == Kind::kScalar || item.kind == Kind::kNull;
         });
}

class Comparison {
 public:
  std::vector<std::string> Take() { return std::move(found_); }

  // Null stands for absent; at most one of the two is.
  void Compare(const std::string& path, const ConfigNode* before, const ConfigNode* after) {
    if (before == nullptr || after == nullptr || before->kind != after->kind)
      return Report(path, before, after);
    switch (before->kind) {
      case Kind::kNull: return;
      case Kind::kScalar:
        if (before->scalar != after->scalar || IsText(*before) != IsText(*after))
          Report(path, before, after);
        return;
      case Kind::kMap: return CompareMaps(path, *before, *after);
      case Kind::kList: return CompareLists(path, *before, *after);
    }
  }

 private:
  void Report(const std::string& path, const ConfigNode* before, const ConfigNode* after) {
    const auto text = [](const ConfigNode* node) {
      return node == nullptr ? "(absent)" : ToYamlLine(*node);
    };
    found_.push_back(fmt::format("{}: {} -> {}", path.empty() ? "(everything)" : path, text(before),
                                 text(after)));
  }

  static std::string Join(const std::string& path, std::string_view step) {
    return path.empty() ? std::string(step) : fmt::format("{}.{}", path, step);
  }

  void CompareMaps(const std::string& path, const ConfigNode& before, const ConfigNode& after) {
    for (const ConfigNode::Entry& entry : before.entries) {
      Compare(Join(path, entry.key), &entry.value, after.Find(entry.key));
    }
    for (const ConfigNode::Entry& entry : after.entries) {
      if (before.Find(entry.key) == nullptr) Compare(Join(path, entry.key), nullptr, &entry.value);
    }
  }

  // Lists of values are compared as a whole; pipelines step by step, by number.
  void CompareLists(const std::string& path, const ConfigNode& before, const ConfigNode& after) {
    if (IsPlainList(before) && IsPlainList(after)) {
      Comparison items;
      items.CompareItems(path, before, after);
      if (!items.found_.empty()) Report(path, &before, &after);
      return;
    }
    CompareItems(path, before, after);
  }

  void CompareItems(const std::string& path, const ConfigNode& before, const ConfigNode& after) {
    const auto at = [](const ConfigNode& list, size_t i) {
      return i < list.items.size() ? &list.items[i] : nullptr;
    };
    for (size_t i = 0; i < std::max(before.items.size(), after.items.size()); ++i) {
      Compare(Join(path, std::to_string(i)), at(before, i), at(after, i));
    }
  }

  std::vector<std::string> found_;
};

}  // namespace

Status SetByPath(ConfigNode& root, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return InvalidArgument(
        "--set {}: there is no '='; write --set key=value, such as train.epochs=1", assignment);
  }
  const std::string_view path = assignment.substr(0, equals);
  if (path.empty() || path.front() == '.' || path.back() == '.' ||
      path.find("..") != std::string_view::npos) {
    return InvalidArgument(
        "--set {}: the key is empty, or a part of it is; write it as in train.epochs=1",
        assignment);
  }
  if (std::count(path.begin(), path.end(), '.') >= kMaxPathParts) {
    return InvalidArgument(
        "--set {}: the key has more than {} parts; recipes are not that deep: check it", assignment,
        kMaxPathParts);
  }
  STOKER_ASSIGN_OR_RETURN(ConfigNode value,
                          ParseYaml(assignment.substr(equals + 1), fmt::format("--set {}", path)));
  return PathSetter(path, std::move(value)).Set(root, path);
}

std::vector<std::string> Differences(const ConfigNode& before, const ConfigNode& after) {
  Comparison comparison;
  comparison.Compare("", &before, &after);
  return comparison.Take();
}

}  // namespace stoker
