// A flame graph: where the time of threads went, as an SVG that needs nothing but a viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/trace_recorder.h"

namespace stoker {

// Returns the text of an SVG file of 1200 units width, without scripts, fonts or links.
//
// Each frame is a span below the same others, as wide as its share of the time of all threads. The
// lowest frame is that of all, those on it are the threads by name, and above them a span stands on
// the one around it. A frame's colour is a function of its name: warm where something works, cool
// where it waits. Its tooltip (<title>) has the name, the time, the share and how often it was.
// Frames narrower than a tenth of a unit are left out.
//   title  above the graph; any text
std::string FlameGraphSvg(const std::vector<TraceThreadStacks>& threads, std::string_view title);

}  // namespace stoker
