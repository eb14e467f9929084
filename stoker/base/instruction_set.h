// Which of the CPU's instruction sets the kernels written with Highway use.
#pragma once

#include <string_view>

namespace stoker {

// Highway's name for it: "AVX3", "AVX2", "SSE4", ... All kernels of a process use the same one: the
// best that this CPU has and that they were compiled for. Thread-safe.
std::string_view InstructionSet();

}  // namespace stoker
