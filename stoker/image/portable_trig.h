// Sine and cosine from +, -, * and / alone, which are rounded alike everywhere: the C library picks
// another sine by the CPU it finds, and what depends on one would differ from machine to machine.
#pragma once

namespace stoker {

// sin(pi * x) and cos(pi * x), within 1e-15 for |x| < 2^20; exact at multiples of a half. The same
// bits on every CPU.
double SinPi(double x);
double CosPi(double x);

}  // namespace stoker
