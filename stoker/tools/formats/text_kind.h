// Guesses the format of a text without a name from its lines.
#pragma once

#include <string_view>

namespace stoker {

enum class TextKind { kOther, kCsv, kJsonl, kLibsvm };

// Decides by the first two lines of `text`, which may be truncated in a later one:
//   kJsonl   the first is an object
//   kLibsvm  each is a number, then pairs INDEX:NUMBER
//   kCsv     both have the same cells, two or more, separated by commas or tabs
TextKind KindOfLines(std::string_view text);

}  // namespace stoker
