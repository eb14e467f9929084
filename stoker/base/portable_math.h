// Replacements for functions of the C library that random draws need. They use +, -, *, / and bits
// only, which every CPU rounds alike; the C library selects its log and exp by the CPU.
#pragma once

namespace stoker {

// Returns the natural logarithm of x, a positive normal number; within 1e-15 of the exact value, or
// 4 units in the last place where that is more. The same bits on every CPU.
double PortableLog(double x);

// Returns e to the x, within 1e-14 relative; 0 below -700 and infinity above 700. NaN gives NaN.
// The same bits on every CPU.
double PortableExp(double x);

}  // namespace stoker
