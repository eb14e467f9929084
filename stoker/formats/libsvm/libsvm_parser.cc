#include "stoker/formats/libsvm/libsvm_parser.h"

#include <string>

#include "stoker/base/dtype.h"
#include "stoker/formats/number.h"

namespace stoker {
namespace {

constexpr size_t kShown = 40;  // of a part in messages

// One line, from left to right.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : line_(line) {}

  // Skips blanks; false at the end of the line or at a comment.
  bool AtPart() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
    return at_ < line_.size() && line_[at_] != '#';
  }

  bool Take(std::string_view text) {
    if (!line_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  // The number that begins here, with an optional +. `what`: what it is, for messages.
  template <typename T>
  Status TakeNumber(std::string_view what, T& out) {
    const size_t begin = at_ + (line_.substr(at_).starts_with('+') ? 1 : 0);
    if (begin > at_ && line_.substr(begin).starts_with('-'))
      return Wrong(fmt::format("{} is wanted", what));
    const char* from = line_.data() + begin;
    switch (stoker::TakeNumber(from, line_.data() + line_.size(), out)) {
      case NumberFault::kNone: break;
      case NumberFault::kNoNumber: return Wrong(fmt::format("{} is wanted", what));
      case NumberFault::kTooLarge:
        return Wrong(fmt::format("{} is too large for {}", what, DTypeName(DTypeOf<T>())));
    }
    at_ = static_cast<size_t>(from - line_.data());
    return OkStatus();
  }

  // The end of a part: a blank, or the end of the line.
  bool AtEndOfPart() const {
    return at_ == line_.size() || line_[at_] == ' ' || line_[at_] == '\t';
  }

  Status Wrong(std::string_view wanted) const {
    const std::string_view rest = line_.substr(at_, kShown);
    if (rest.empty()) return DataLoss("byte {}: {}, but the line ends", at_, wanted);
    return DataLoss("byte {}: {}, found '{}'", at_, wanted, rest.substr(0, rest.find(' ')));
  }

 private:
  const std::string_view line_;
  size_t at_ = 0;
};

Status ParseLabels(Cursor& cursor, std::vector<double>& labels) {
  do {
    double label = 0;
    STOKER_RETURN_IF_ERROR(cursor.TakeNumber("a label", label));
    labels.push_back(label);
  } while (cursor.Take(","));
  return cursor.AtEndOfPart() ? OkStatus() : cursor.Wrong("a blank is wanted after the label");
}

Status ParseFeature(Cursor& cursor, const LibsvmForm& form, LibsvmSample& out) {
  const Cursor begin = cursor;
  int64_t index = 0;
  STOKER_RETURN_IF_ERROR(cursor.TakeNumber("the index of a feature", index));
  if (index < form.first_index ||
      (form.features > 0 && index - form.first_index >= form.features)) {
    return begin.Wrong(fmt::format("indices are {} to {}", form.first_index,
                                   form.features > 0
                                       ? std::to_string(form.first_index + form.features - 1)
                                       : "any larger one"));
  }
  index -= form.first_index;
  if (!out.indices.empty() && index <= out.indices.back())
    return begin.Wrong("indices must grow from left to right");
  if (!cursor.Take(":")) return cursor.Wrong("a colon is wanted after the index");
  float value = 0;
  STOKER_RETURN_IF_ERROR(cursor.TakeNumber("the value of a feature", value));
  if (!cursor.AtEndOfPart()) return cursor.Wrong("a blank is wanted after the value");
  out.indices.push_back(index);
  out.values.push_back(value);
  return OkStatus();
}

}  // namespace

Status ParseLibsvm(std::string_view line, const LibsvmForm& form, LibsvmSample& out) {
  out.labels.clear();
  out.indices.clear();
  out.values.clear();
  out.query = -1;
  Cursor cursor(line);
  if (!cursor.AtPart()) return cursor.Wrong("a label is wanted");
  STOKER_RETURN_IF_ERROR(ParseLabels(cursor, out.labels));
  if (cursor.AtPart() && cursor.Take("qid:")) {
    const Cursor begin = cursor;
    STOKER_RETURN_IF_ERROR(cursor.TakeNumber("the number of a query after qid:", out.query));
    if (out.query < 0) return begin.Wrong("the number of a query is from 0 on");
    if (!cursor.AtEndOfPart())
      return cursor.Wrong("a blank is wanted after the number of the query");
  }
  while (cursor.AtPart()) STOKER_RETURN_IF_ERROR(ParseFeature(cursor, form, out));
  return OkStatus();
}

}  // namespace stoker
