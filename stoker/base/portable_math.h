// Functions of the C library that random draws need, from +, -, *, / and bits alone: those are
// rounded alike everywhere, while the C library picks another log and exp by the CPU it finds.
#pragma once

namespace stoker {

// The natural logarithm of x, a positive normal number; within 1e-15 of the exact value, or 4 units
// in the last place where that is more. The same bits on every CPU.
double PortableLog(double x);

// e to the x, within 1e-14 relative; 0 below -700 and infinity above 700. NaN gives NaN. The same
// bits on every CPU.
double PortableExp(double x);

}  // namespace stoker
