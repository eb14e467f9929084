// Inverse DCTs that make fewer samples of a block, in the integers of libjpeg (jidctred.c): each is
// the mean of 2 x 2 (4 x 4, 8 x 8) neighbours among the 64 that there would be, computed directly.
// Along each axis the fifth value drops out of such means, and of four also the third and seventh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoker::jpeg_baseline {

// As InverseDctGroup (inverse_dct.h), for smaller blocks.
//   size  1, 2 or 4 samples each way; of 1, only the first value of each block is read and cleared
//   out   the upper left of four times size x size samples side by side
// Returns whether the bytes are those of libjpeg on any CPU: see there.
bool ScaledInverseDctGroup(int16_t* values, const int16_t* divisors, int size, uint8_t* out,
                           ptrdiff_t stride);
bool ScaledInverseDctGroupReference(int16_t* values, const int16_t* divisors, int size,
                                    uint8_t* out, ptrdiff_t stride);

// The instruction set that it uses here (Highway's names).
std::string_view ScaledInverseDctInstructionSet();

}  // namespace stoker::jpeg_baseline
