// Members of JSON objects, one a line, as arrays. README.md says what becomes of what.
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

// One member that is wanted.
struct JsonMember {
  enum class Kind { kNumbers, kText, kJson };
  std::string path;  // names and numbers in lists, with dots between
  Kind kind = Kind::kNumbers;
  DType dtype = DType::kFloat32;  // of numbers: bool, uint8, int32, int64, float32 or float64
  Shape shape;                    // of numbers: an extent of -1 may be the first
  // What stands for each value of a member that is missing or null: a number, or the text itself.
  // Without one that is an error, or where the first extent is -1 a list of nothing.
  bool has_default = false;
  std::string default_text;
};

// Immutable; thread-safe.
class JsonRowParser {
 public:
  // Errors: kInvalidArgument for paths that are empty, wanted twice or in the middle of another,
  // and defaults that are no such number.
  static Result<JsonRowParser> Make(std::vector<JsonMember> members);

  const std::vector<JsonMember>& members() const { return members_; }

  // `memory`: for each member whose shape is known where its values go, `loose`: for each other one
  // its bytes, which are set; those not needed are ignored (`loose` may be empty where all shapes
  // are known). Errors: kDataLoss, with the byte within the line or the path; the caller knows
  // which line it is. Where the line is good, what is written depends on nothing else.
  Status Parse(std::string_view line, std::span<std::byte* const> memory,
               std::span<std::string> loose) const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // A name on the way to members.
  struct Node {
    std::string name;
    size_t member = kNone;
    std::vector<Node> children;
    std::map<std::string, size_t, std::less<>> by_name;  // where in `children`

    // The child that is called so, or nullptr. It is likely children[guess], since lines mostly
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
  // kDataLoss: names the members that the line lacks and that have no default.
  Status Missing(const Target& target) const;
  // REQUIRES: the member may be missing.
  void FillMissing(size_t member, Target& target) const;

  std::vector<JsonMember> members_;
  Node root_;
};

}  // namespace stoker
