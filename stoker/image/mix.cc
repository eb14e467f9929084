#include "stoker/image/mix.h"

namespace stoker {

void MixValues(const uint8_t* a, const uint8_t* b, size_t n, uint32_t weight, uint8_t* out) {
  const uint32_t rest = kWholeMixWeight - weight;
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>((a[i] * weight + b[i] * rest + kWholeMixWeight / 2) >> 16);
}

void MixValues(const float* a, const float* b, size_t n, float share, float* out) {
  const float rest = 1.0f - share;
  for (size_t i = 0; i < n; ++i) out[i] = share * a[i] + rest * b[i];
}

}  // namespace stoker
