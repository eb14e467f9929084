// Sine and cosine from +, -, * and / alone, which every CPU rounds alike. The C library selects its
// sine by the CPU, so results would differ from machine to machine.
#pragma once

namespace stoker {

// Return sin(pi * x) and cos(pi * x), within 1e-15 for |x| < 2^20; exact at multiples of a half.
// The same bits on every CPU.
double SinPi(double x);
double CosPi(double x);

}  // namespace stoker
