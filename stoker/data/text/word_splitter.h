// Splits text into words at white space, or by a regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct WordSplitterOptions {
  // At most one of the two; without any, words are what stands between white space (ASCII's).
  // RE2's syntax (https://github.com/google/re2/wiki/Syntax); empty matches are passed over.
  std::string pattern;    // what words are: "\\w+|[^\\w\\s]"
  std::string separator;  // what stands between them: ","
  bool lower = false;     // lower case first, all of Unicode, letter by letter
};

// Immutable and thread-safe.
class WordSplitter {
 public:
  // Errors: kInvalidArgument for an expression that is none, and for two of them.
  static Result<WordSplitter> Create(const WordSplitterOptions& options);

  // Appends the words of `text`, which are views of it, or of `buffer` where they are lowered.
  void Split(std::string_view text, std::string& buffer, std::vector<std::string_view>& out) const;

 private:
  struct Expressions;
  explicit WordSplitter(std::shared_ptr<const Expressions> expressions)
      : expressions_(std::move(expressions)) {}

  std::shared_ptr<const Expressions> expressions_;
};

}  // namespace stoker
