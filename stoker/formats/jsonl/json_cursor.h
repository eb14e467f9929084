// Reads JSON text value by value, without building a tree. README.md defines the accepted JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Errors of all calls: kDataLoss, with the byte within the text ("byte 12: ..."). After one the
// cursor is unusable. One thread at a time.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Returns the next character that is not white space, without consuming it; 0 at the end.
  char Peek();
  // Consumes it if it is `c`.
  bool Take(char c);
  Status Expect(char c);
  // Checks that only white space is left.
  Status ExpectEnd();

  // Consumes the next text and returns it unescaped: a part of the input, or in `scratch`.
  Result<std::string_view> TakeText(std::string& scratch);
  // Consumes the next number, as RFC 8259 or Python writes it, and returns its characters.
  Result<std::string_view> TakeNumber();
  // Consumes `word`: true, false or null.
  bool TakeWord(std::string_view word);
  // Consumes the next value of any type and returns its characters.
  Result<std::string_view> TakeValue();

  // For the caller's errors.
  size_t position() const { return at_; }
  // Returns "byte 12: {what}, found 'x'"
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
