// Splits text into words at white space, or by a regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct WordSplitterOptions {
  // Set at most one of the two; without any, ASCII white space separates words. RE2's syntax
  // (https://github.com/google/re2/wiki/Syntax); empty matches are ignored.
  std::string pattern;    // matches words: "\\w+|[^\\w\\s]"
  std::string separator;  // matches separators: ","
  bool lower = false;     // lowers case first, in all of Unicode, letter by letter
  bool trim = false;      // words are those of WordIn; what is empty then is none
};

// Returns a text without white space and NULs around it, as words are compared.
std::string_view WordIn(std::string_view text);

// Immutable and thread-safe.
class WordSplitter {
 public:
  // Errors: kInvalidArgument for an invalid expression, and for two of them.
  static Result<WordSplitter> Create(const WordSplitterOptions& options);

  // Appends the words of `text`, which are views of it, or of `buffer` if lowered.
  void Split(std::string_view text, std::string& buffer, std::vector<std::string_view>& out) const;

 private:
  struct Expressions;
  explicit WordSplitter(std::shared_ptr<const Expressions> expressions)
      : expressions_(std::move(expressions)) {}

  std::shared_ptr<const Expressions> expressions_;
};

}  // namespace stoker
