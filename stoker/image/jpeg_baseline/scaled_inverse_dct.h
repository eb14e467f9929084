// Inverse DCTs that compute fewer samples of a block, in the integers of libjpeg (jidctred.c): each
// is the mean of 2 x 2 (4 x 4, 8 x 8) neighbours among the full 64, computed directly. Along each
// axis the fifth value cancels in such means, and in means of four also the third and seventh.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::jpeg_baseline {

// As InverseDctGroup (inverse_dct.h), for smaller blocks.
//   size  1, 2 or 4 samples each way; with 1, only the first value of each block is read and
//         cleared
//   out   the upper left of four adjacent blocks of size x size samples
// Returns whether the bytes are those of libjpeg on any CPU: see there.
bool ScaledInverseDctGroup(int16_t* values, const int16_t* divisors, int size, uint8_t* out,
                           ptrdiff_t stride);
bool ScaledInverseDctGroupReference(int16_t* values, const int16_t* divisors, int size,
                                    uint8_t* out, ptrdiff_t stride);

}  // namespace stoker::jpeg_baseline
