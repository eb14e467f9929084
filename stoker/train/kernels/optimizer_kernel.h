// The loops of optimizers over weights: contiguous floats, one thread.
//
// Nothing needs alignment; arrays are of `n` floats and do not overlap. Concurrent calls are safe.
// Products and sums are rounded one by one (never fused), and sums have an order that is
// independent of the instruction set, so every CPU gives the same bits.
#pragma once

#include <cstddef>

namespace stoker {

// The sums of squares of two arrays.
struct SquareSums {
  double first = 0;
  double second = 0;
};

SquareSums SumSquares(const float* a, const float* b, size_t n);
double SumSquares(const float* a, size_t n);

// LAMB's direction u = (m * correction1) / (sqrt(v * correction2) + eps) + weight_decay * p.
struct LambConstants {
  float beta1 = 0, beta2 = 0;
  float correction1 = 1, correction2 = 1;
  float eps = 0;
  float weight_decay = 0;
};
// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  g = u. Returns the sums of squares
// of p and of u.
SquareSums LambDirections(const float* p, float* g, float* m, float* v, size_t n,
                          const LambConstants& constants);

// p -= rate * u.
void SubtractScaled(float* p, const float* u, size_t n, float rate);

// v = momentum v + ratio (g + weight_decay p);  p -= lr v.
struct LarsConstants {
  float lr = 0, momentum = 0, ratio = 1, weight_decay = 0;
};
void LarsApply(float* p, const float* g, float* v, size_t n, const LarsConstants& constants);

// p -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay p);  m = beta2 m + (1 - beta2) g.
struct LionConstants {
  float lr = 0, beta1 = 0, beta2 = 0, weight_decay = 0;
};
void LionApply(float* p, const float* g, float* m, size_t n, const LionConstants& constants);

// h = g + weight_decay p;  v = alpha v + (1 - alpha) h^2;  b = momentum b + h / (sqrt(v) + eps);
// p -= lr b.
struct RmspropConstants {
  float lr = 0, alpha = 0, eps = 0, momentum = 0, weight_decay = 0;
};
void RmspropApply(float* p, const float* g, float* v, float* b, size_t n,
                  const RmspropConstants& constants);

// Where g is not 0: s += g^2;  c = (beta + sqrt(initial + s)) / lr + l2;  z = g - (c p + sign(p)
// l1) where p is not 0, else z + g;  p = -(z - sign(z) l1) / c where |z| > l1, else 0.
struct FtrlConstants {
  float lr = 0, l1 = 0, l2 = 0, beta = 0, initial = 0;
};
void FtrlApply(float* p, const float* g, float* s, float* z, size_t n,
               const FtrlConstants& constants);

// The plain twins: the references in tests of the above.
SquareSums SumSquaresReference(const float* a, const float* b, size_t n);
SquareSums LambDirectionsReference(const float* p, float* g, float* m, float* v, size_t n,
                                   const LambConstants& constants);
void SubtractScaledReference(float* p, const float* u, size_t n, float rate);
void LarsApplyReference(float* p, const float* g, float* v, size_t n,
                        const LarsConstants& constants);
void LionApplyReference(float* p, const float* g, float* m, size_t n,
                        const LionConstants& constants);
void RmspropApplyReference(float* p, const float* g, float* v, float* b, size_t n,
                           const RmspropConstants& constants);
void FtrlApplyReference(float* p, const float* g, float* s, float* z, size_t n,
                        const FtrlConstants& constants);

}  // namespace stoker
