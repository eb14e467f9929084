// Converts members of JSON objects, one object a line, to arrays. README.md has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

class JsonCursor;

// One wanted member.
struct JsonMember {
  enum class Kind { kNumbers, kText, kJson };
  std::string path;  // names, and numbers within lists, joined by dots
  Kind kind = Kind::kNumbers;
  DType dtype = DType::kFloat32;  // of numbers: bool, uint8, int32, int64, float32 or float64
  Shape shape;                    // of numbers: the first extent may be -1
  // The replacement for each value of a missing or null member: a number, or the text itself.
  // Without one that is an error, or an empty list if the first extent is -1.
  bool has_default = false;
  std::string default_text;
};

// Immutable; thread-safe.
class JsonRowParser {
 public:
  // Errors: kInvalidArgument for paths that are empty, wanted twice or a prefix of another, and
  // defaults that are not valid numbers.
  static Result<JsonRowParser> Make(std::vector<JsonMember> members);

  const std::vector<JsonMember>& members() const { return members_; }

  // `memory`: the destination of each member of known shape; `loose`: receives the bytes of each
  // other member; those not needed are ignored (`loose` may be empty if all shapes are known).
  // Errors: kDataLoss, with the byte within the line or the path; the caller adds the line. The
  // result of a good line depends on nothing but the line.
  Status Parse(std::string_view line, std::span<std::byte* const> memory,
               std::span<std::string> loose) const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // One name in the paths of members.
  struct Node {
    std::string name;
    size_t member = kNone;
    std::vector<Node> children;
    std::map<std::string, size_t, std::less<>> by_name;  // index in `children`

    // Returns the child of this name, or nullptr. Tries children[guess] first, because most lines
    // have their members in one order.
    const Node* Find(std::string_view name_of_child, size_t guess) const;
  };
  struct Target;

  explicit JsonRowParser(std::vector<JsonMember> members) : members_(std::move(members)) {}
  Status AddPath(size_t member);
  Status ParseObject(const Node& node, JsonCursor& cursor, Target& target) const;
  Status ParseList(const Node& node, JsonCursor& cursor, Target& target) const;
  Status ParseBelow(const Node& node, JsonCursor& cursor, Target& target) const;
  Status ParseMember(size_t member, JsonCursor& cursor, Target& target) const;
  // Returns kDataLoss, which names the missing members without a default.
  Status Missing(const Target& target) const;
  // REQUIRES: the member may be missing.
  void FillMissing(size_t member, Target& target) const;

  std::vector<JsonMember> members_;
  Node root_;
};

}  // namespace stoker
