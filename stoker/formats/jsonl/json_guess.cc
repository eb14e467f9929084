#include "stoker/formats/jsonl/json_guess.h"

#include <algorithm>
#include <utility>

#include "stoker/formats/jsonl/json_cursor.h"
#include "stoker/formats/number.h"

namespace stoker {
namespace {

bool IsWhole(std::string_view number) {
  int64_t ignored = 0;
  return ParseNumber(number, ignored) == NumberFault::kNone;
}

// Takes a list, as deep as it goes. Its shape, or nothing if it has other values than numbers,
// or is ragged within; `whole` becomes false if one of them is no int64.
Result<std::optional<Shape>> TakeListShape(JsonCursor& cursor, bool& whole) {
  STOKER_RETURN_IF_ERROR(cursor.Expect('['));
  std::optional<Shape> inner = Shape{};
  int64_t count = 0;
  while (!cursor.Take(']')) {
    if (count > 0) STOKER_RETURN_IF_ERROR(cursor.Expect(','));
    std::optional<Shape> here = Shape{};
    if (cursor.Peek() == '[') {
      STOKER_ASSIGN_OR_RETURN(here, TakeListShape(cursor, whole));
    } else {
      STOKER_ASSIGN_OR_RETURN(const std::string_view value, cursor.TakeValue());
      const bool word = value == "true" || value == "false" || value == "null";
      if (word || value.front() == '"' || value.front() == '{') here.reset();
      whole = whole && here && IsWhole(value);
    }
    if (count > 0 && inner != here) here.reset();
    if (count == 0 || !here) inner = std::move(here);
    ++count;
  }
  if (inner) inner->insert(inner->begin(), count);
  return inner;
}

// What is known of the shapes of lists, with one more of them; false if it does not fit.
bool Join(const Shape& shape, Shape& known) {
  // Lists of nothing do not tell what would be in them.
  if (shape.front() == 0 && shape.size() < known.size()) {
    known.front() = kUnknownDim;
  } else if (known.size() < shape.size() && known.front() <= 0) {
    known = shape;
    known.front() = kUnknownDim;
  } else if (known.size() != shape.size() ||
             !std::equal(known.begin() + 1, known.end(), shape.begin() + 1)) {
    return false;
  } else if (known.front() != shape.front()) {
    known.front() = kUnknownDim;
  }
  return true;
}

}  // namespace

Status JsonGuess::Add(std::string_view line) {
  // All of it is looked at before anything is kept. It also bounds how deep the rest goes.
  JsonCursor whole(line);
  if (whole.Peek() != '{') return whole.Unexpected("an object is wanted");
  STOKER_RETURN_IF_ERROR(whole.TakeValue().status());
  STOKER_RETURN_IF_ERROR(whole.ExpectEnd());
  JsonCursor cursor(line);
  STOKER_RETURN_IF_ERROR(LookInto(cursor, ""));
  ++lines_;
  return OkStatus();
}

Status JsonGuess::LookInto(JsonCursor& cursor, const std::string& prefix) {
  STOKER_RETURN_IF_ERROR(cursor.Expect('{'));
  std::string scratch;
  for (bool first = true; !cursor.Take('}'); first = false) {
    if (!first) STOKER_RETURN_IF_ERROR(cursor.Expect(','));
    STOKER_ASSIGN_OR_RETURN(const std::string_view name, cursor.TakeText(scratch));
    const bool nameable = !name.empty() && name.find('.') == name.npos;
    const std::string path = prefix + std::string(name);
    STOKER_RETURN_IF_ERROR(cursor.Expect(':'));
    JsonCursor behind = cursor;
    const bool has_members = behind.Take('{') && !behind.Take('}');
    if (!nameable) {
      STOKER_RETURN_IF_ERROR(cursor.TakeValue().status());
    } else if (has_members) {
      STOKER_RETURN_IF_ERROR(LookInto(cursor, path + "."));
    } else {
      const auto [member, is_new] = seen_.try_emplace(path);
      if (is_new) {
        member->second.rank = seen_.size() - 1;
        path_bytes_ += path.size();
      }
      if (seen_.size() > kMostMembers || path_bytes_ > kMostPathBytes) return TooMany(cursor);
      STOKER_RETURN_IF_ERROR(LookAt(cursor, member->second));
    }
  }
  return OkStatus();
}

Status JsonGuess::TooMany(const JsonCursor& cursor) const {
  return Unimplemented(
      "byte {}: there are {} members by now, whose paths have {} characters; at most {} members "
      "and {} characters become fields by themselves: name the fields that are wanted",
      cursor.position(), seen_.size(), path_bytes_, kMostMembers, kMostPathBytes);
}

// Takes a value that has no members.
Status JsonGuess::LookAt(JsonCursor& cursor, Seen& seen) const {
  const char first = cursor.Peek();
  std::optional<Shape> shape;
  bool whole = true;
  if (first == '[') {
    STOKER_ASSIGN_OR_RETURN(shape, TakeListShape(cursor, whole));
  } else {
    STOKER_ASSIGN_OR_RETURN(const std::string_view value, cursor.TakeValue());
    if (value == "null") return OkStatus();
    whole = IsWhole(value);
  }
  if (seen.last != lines_) ++seen.lines;  // a name may come twice
  seen.last = lines_;
  const bool number =
      first == '-' || first == 'N' || first == 'I' || (first >= '0' && first <= '9');
  seen.numbers = seen.numbers && number;
  seen.bools = seen.bools && (first == 't' || first == 'f');
  seen.texts = seen.texts && first == '"';
  seen.whole = seen.whole && whole;
  if (shape && !seen.shape) seen.shape = shape;
  seen.lists = seen.lists && shape && Join(*shape, *seen.shape);
  return OkStatus();
}

JsonMember JsonGuess::MemberOf(const std::string& path, const Seen& seen) const {
  using Kind = JsonMember::Kind;
  JsonMember member{.path = path, .kind = Kind::kJson, .dtype = DType::kUInt8};
  const bool gaps = seen.lines < lines_;
  const auto otherwise = [&](std::string_view text) {
    member.has_default = gaps;
    if (gaps) member.default_text = text;
  };
  if (seen.lines > 0 && seen.bools && !gaps) {
    member.kind = Kind::kNumbers;
    member.dtype = DType::kBool;
  } else if (seen.lines > 0 && seen.texts) {
    member.kind = Kind::kText;
    otherwise("");
  } else if (seen.lines > 0 && seen.numbers) {
    member.kind = Kind::kNumbers;
    member.dtype = seen.whole && !gaps ? DType::kInt64 : DType::kFloat32;
    otherwise("nan");
  } else if (seen.lines > 0 && seen.lists) {
    member.kind = Kind::kNumbers;
    member.dtype = seen.whole ? DType::kInt64 : DType::kFloat32;
    member.shape = *seen.shape;
    if (gaps || member.shape.front() == 0) member.shape.front() = kUnknownDim;
  } else {
    otherwise("null");
  }
  return member;
}

std::vector<JsonMember> JsonGuess::Members() const {
  using Entry = std::map<std::string, Seen>::value_type;
  std::vector<const Entry*> entries;
  for (const Entry& entry : seen_) {
    // What is an object here and there has its members as fields.
    const std::string below = entry.first + ".";
    const auto part = seen_.lower_bound(below);
    const bool has_parts = part != seen_.end() && part->first.starts_with(below);
    if (!has_parts) entries.push_back(&entry);
  }
  std::ranges::sort(entries, {}, [](const Entry* entry) { return entry->second.rank; });
  std::vector<JsonMember> members;
  for (const Entry* const entry : entries) members.push_back(MemberOf(entry->first, entry->second));
  return members;
}

}  // namespace stoker
