// Folded stacks: a line for each stack of spans, which programs that draw flame graphs read
// (flamegraph.pl, inferno, speedscope).
#pragma once

#include <string>
#include <vector>

#include "stoker/base/trace_recorder.h"

namespace stoker {

// Returns a line "decode;batch;decode;read a file 1234" for each stack that has time of its own:
// the threads' name, the spans from the outermost to the innermost, and microseconds without those
// of the spans inside, rounded. A semicolon or line break in a name becomes a comma or a space.
std::string FoldedStacks(const std::vector<TraceThreadStacks>& threads);

}  // namespace stoker
