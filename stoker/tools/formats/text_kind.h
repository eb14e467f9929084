// What a text without a name is, as far as its lines tell.
#pragma once

#include <string_view>

namespace stoker {

enum class TextKind { kOther, kCsv, kJsonl, kLibsvm };

// By the first two lines of `text`, which may end in the middle of a later one:
//   kJsonl   the first is an object
//   kLibsvm  each is a number, then pairs INDEX:NUMBER
//   kCsv     both have the same cells, two or more, separated by commas or tabs
TextKind KindOfLines(std::string_view text);

}  // namespace stoker
