// Goes through JSON text value by value, without making a tree of it. README.md says what is JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Errors of all calls: kDataLoss, with the byte within the text ("byte 12: ..."). After one the
// cursor is of no use. One thread at a time.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // The next character that is no white space, which is not taken; 0 at the end.
  char Peek();
  // Takes it where it is `c`.
  bool Take(char c);
  Status Expect(char c);
  // That nothing but white space is left.
  Status ExpectEnd();

  // The text that comes next, unescaped: part of what the cursor goes through, or in `scratch`.
  Result<std::string_view> TakeText(std::string& scratch);
  // The characters of the number that comes next, as RFC 8259 or Python writes it.
  Result<std::string_view> TakeNumber();
  // true, false or null.
  bool TakeWord(std::string_view word);
  // The characters of the value that comes next, whatever it is.
  Result<std::string_view> TakeValue();

  // For errors of whoever uses it.
  size_t position() const { return at_; }
  // "byte 12: {what}, found 'x'"
  Status Unexpected(std::string_view what) const;

 private:
  Status Skip(int depth);
  Status SkipText();
  Status SkipList(int depth);
  Status SkipObject(int depth);
  Status AppendEscaped(std::string& out);
  Result<unsigned> TakeHex4();
  void SkipDigits();

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace stoker
