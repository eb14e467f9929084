#include "stoker/formats/jsonl/json_row_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/formats/jsonl/json_cursor.h"
#include "stoker/formats/number.h"

namespace stoker {
namespace {

constexpr int64_t kUnknown = -1;
constexpr size_t kShown = 40;      // of a value in messages
constexpr size_t kMostNamed = 10;  // of the members that a line lacks

template <typename T>
std::string_view NameOf() {
  return DTypeName(DTypeOf<T>());
}

template <typename T>
Status TakeScalar(JsonCursor& cursor, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out = cursor.Peek() == 't';
    return cursor.TakeWord("true") || cursor.TakeWord("false")
               ? OkStatus()
               : cursor.Unexpected("true or false is wanted");
  } else {
    STOKER_ASSIGN_OR_RETURN(const std::string_view text, cursor.TakeNumber());
    const NumberFault fault = ParseNumber(text, out);
    if (fault == NumberFault::kNone) return OkStatus();
    if (std::is_floating_point_v<T> && fault == NumberFault::kTooLarge) {
      return DataLoss("byte {}: {} is too large for {}; correct it, or set the field's type",
                      cursor.position() - text.size(), text.substr(0, kShown), NameOf<T>());
    }
    return DataLoss("byte {}: {} is no {}; set the field's type", cursor.position() - text.size(),
                    text.substr(0, kShown), NameOf<T>());
  }
}

// A list as deep as `shape`, whose values `put` takes in order. An extent of -1 takes what there
// is.
template <typename T, typename Put>
Status TakeValues(JsonCursor& cursor, std::span<const int64_t> shape, const Put& put) {
  if (shape.empty()) {
    T value{};
    STOKER_RETURN_IF_ERROR(TakeScalar(cursor, value));
    put(value);
    return OkStatus();
  }
  if (!cursor.Take('[')) return cursor.Unexpected("a list is wanted");
  int64_t count = 0;
  const bool none = cursor.Take(']');
  while (!none) {
    if (count == shape.front())
      return cursor.Unexpected(fmt::format("{} values are wanted", count));
    STOKER_RETURN_IF_ERROR(TakeValues<T>(cursor, shape.subspan(1), put));
    ++count;
    if (!cursor.Take(',')) break;
  }
  if (!none) STOKER_RETURN_IF_ERROR(cursor.Expect(']'));
  if (shape.front() == kUnknown || count == shape.front()) return OkStatus();
  return DataLoss("byte {}: the list has {} values, {} are wanted; correct it, or set the shape",
                  cursor.position(), count, shape.front());
}

// Calls f(T()) with the type of the values.
template <typename F>
auto WithType(DType dtype, const F& f) {
  switch (dtype) {
    case DType::kBool: return f(bool());
    case DType::kUInt8: return f(uint8_t());
    case DType::kInt32: return f(int32_t());
    case DType::kInt64: return f(int64_t());
    case DType::kFloat64: return f(double());
    default: return f(float());
  }
}

bool IsLoose(const JsonMember& member) {
  return member.kind != JsonMember::Kind::kNumbers ||
         (!member.shape.empty() && member.shape.front() == kUnknown);
}

// Where the line lacks the member, nothing can stand for it. A list of any length may be empty.
bool MustBeThere(const JsonMember& member) {
  return !member.has_default && !(IsLoose(member) && member.kind == JsonMember::Kind::kNumbers);
}

template <typename T>
bool ReadDefault(const std::string& text, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out = text == "true";
    return text == "true" || text == "false";
  } else {
    return ParseNumber(text, out) == NumberFault::kNone;
  }
}

}  // namespace

// Where the values of one line go.
struct JsonRowParser::Target {
  std::span<std::byte* const> memory;
  std::span<std::string> loose;
  std::vector<bool> there;  // which members were
  std::string scratch;
};

Result<JsonRowParser> JsonRowParser::Make(std::vector<JsonMember> members) {
  JsonRowParser parser(std::move(members));
  for (size_t m = 0; m < parser.members_.size(); ++m) {
    const JsonMember& member = parser.members_[m];
    STOKER_RETURN_IF_ERROR(parser.AddPath(m));
    if (!member.has_default || IsLoose(member)) continue;
    const bool good =
        WithType(member.dtype, [&](auto value) { return ReadDefault(member.default_text, value); });
    if (!good) {
      return InvalidArgument("'{}': default '{}' is no {}", member.path, member.default_text,
                             DTypeName(member.dtype));
    }
  }
  return parser;
}

Status JsonRowParser::AddPath(size_t member) {
  const std::string& path = members_[member].path;
  Node* node = &root_;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name.empty())
      return InvalidArgument("'{}' is no path of names with dots between, such as a.b", path);
    if (node->member != kNone)
      return InvalidArgument("'{}' is part of '{}', which is wanted too; name one of them", path,
                             members_[node->member].path);
    const auto [child, is_new] = node->by_name.try_emplace(name, node->children.size());
    if (is_new)
      node->children.push_back({.name = name, .member = kNone, .children = {}, .by_name = {}});
    node = &node->children[child->second];
    begin = end + 1;
  }
  if (node->member != kNone) return InvalidArgument("'{}' is wanted twice", path);
  if (!node->children.empty())
    return InvalidArgument("a part of '{}' is wanted too; name one of them", path);
  node->member = member;
  return OkStatus();
}

const JsonRowParser::Node* JsonRowParser::Node::Find(std::string_view name_of_child,
                                                     size_t guess) const {
  if (guess < children.size() && children[guess].name == name_of_child) return &children[guess];
  const auto found = by_name.find(name_of_child);
  return found == by_name.end() ? nullptr : &children[found->second];
}

Status JsonRowParser::Parse(std::string_view line, std::span<std::byte* const> memory,
                            std::span<std::string> loose) const {
  JsonCursor cursor(line);
  Target target{
      .memory = memory, .loose = loose, .there = std::vector<bool>(members_.size()), .scratch = {}};
  STOKER_RETURN_IF_ERROR(ParseObject(root_, cursor, target));
  STOKER_RETURN_IF_ERROR(cursor.ExpectEnd());
  for (size_t m = 0; m < members_.size(); ++m) {
    if (target.there[m]) continue;
    if (MustBeThere(members_[m])) return Missing(target);
    FillMissing(m, target);
  }
  return OkStatus();
}

Status JsonRowParser::Missing(const Target& target) const {
  std::vector<std::string> paths;
  size_t more = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (target.there[m] || !MustBeThere(members_[m])) continue;
    if (paths.size() < kMostNamed) {
      paths.push_back(fmt::format("'{}'", members_[m].path));
    } else {
      ++more;
    }
  }
  return DataLoss("there is no {}{}; give {} a default", fmt::join(paths, " nor "),
                  more == 0 ? "" : fmt::format(" nor {} more", more),
                  paths.size() == 1 ? "the field" : "each of these fields");
}

Status JsonRowParser::ParseObject(const Node& node, JsonCursor& cursor, Target& target) const {
  STOKER_RETURN_IF_ERROR(cursor.Expect('{'));
  if (cursor.Take('}')) return OkStatus();
  size_t next = 0;  // of the children
  do {
    STOKER_ASSIGN_OR_RETURN(const std::string_view name, cursor.TakeText(target.scratch));
    const Node* const child = node.Find(name, next);
    if (child != nullptr) next = static_cast<size_t>(child - node.children.data()) + 1;
    STOKER_RETURN_IF_ERROR(cursor.Expect(':'));
    STOKER_RETURN_IF_ERROR(child == nullptr ? cursor.TakeValue().status()
                                            : ParseBelow(*child, cursor, target));
  } while (cursor.Take(','));
  return cursor.Expect('}');
}

Status JsonRowParser::ParseList(const Node& node, JsonCursor& cursor, Target& target) const {
  STOKER_RETURN_IF_ERROR(cursor.Expect('['));
  if (cursor.Take(']')) return OkStatus();
  size_t number = 0;
  do {
    const Node* const child = node.Find(std::to_string(number), number);
    ++number;
    STOKER_RETURN_IF_ERROR(child == nullptr ? cursor.TakeValue().status()
                                            : ParseBelow(*child, cursor, target));
  } while (cursor.Take(','));
  return cursor.Expect(']');
}

Status JsonRowParser::ParseBelow(const Node& node, JsonCursor& cursor, Target& target) const {
  if (node.member != kNone) {
    const Status status = ParseMember(node.member, cursor, target);
    if (status.ok()) return status;
    return Status(status.code(),
                  fmt::format("'{}': {}", members_[node.member].path, status.message()));
  }
  const char next = cursor.Peek();
  if (next == '{') return ParseObject(node, cursor, target);
  if (next == '[') return ParseList(node, cursor, target);
  return cursor.TakeValue().status();  // nothing is below it
}

Status JsonRowParser::ParseMember(size_t m, JsonCursor& cursor, Target& target) const {
  const JsonMember& member = members_[m];
  target.there[m] = member.kind == JsonMember::Kind::kJson || !cursor.TakeWord("null");
  if (!target.there[m]) return OkStatus();
  if (member.kind == JsonMember::Kind::kJson) {
    STOKER_ASSIGN_OR_RETURN(const std::string_view value, cursor.TakeValue());
    target.loose[m].assign(value);
    return OkStatus();
  }
  if (member.kind == JsonMember::Kind::kText) {
    if (cursor.Peek() != '"') return cursor.Unexpected("a text is wanted");
    STOKER_ASSIGN_OR_RETURN(const std::string_view text, cursor.TakeText(target.scratch));
    target.loose[m].assign(text);
    return OkStatus();
  }
  return WithType(member.dtype, [&](auto type) {
    using T = decltype(type);
    if (IsLoose(member)) {
      std::string& out = target.loose[m];
      out.clear();
      return TakeValues<T>(cursor, member.shape, [&](T value) {
        out.append(reinterpret_cast<const char*>(&value), sizeof(value));
      });
    }
    std::byte* out = target.memory[m];
    return TakeValues<T>(cursor, member.shape, [&](T value) {
      std::memcpy(out, &value, sizeof(value));
      out += sizeof(value);
    });
  });
}

void JsonRowParser::FillMissing(size_t m, Target& target) const {
  const JsonMember& member = members_[m];
  if (IsLoose(member)) {
    target.loose[m] = member.kind == JsonMember::Kind::kNumbers ? "" : member.default_text;
    return;
  }
  WithType(member.dtype, [&](auto value) {
    ReadDefault(member.default_text, value);
    std::byte* out = target.memory[m];
    for (int64_t i = 0; i < NumValues(member.shape); ++i, out += sizeof(value))
      std::memcpy(out, &value, sizeof(value));
  });
}

}  // namespace stoker
