// Affine changes of arrays [channels, height, width].
#pragma once

#include <string_view>

#include "stoker/data/transforms/paired_fields_internal.h"
#include "stoker/image/affine.h"

namespace stoker {

// Returns InvalidArgument if `bilinear` is set and an image is neither uint8 nor float32.
Status CheckWarp(std::string_view who, const Spec& spec, const PairedFields& fields, bool bilinear);

// Moves the pixels of `from` into `to`, of the same dtype and channels, of any size and not
// overlapping; masks by nearest neighbour, images as `bilinear` says. Pixels from outside get the
// field's fill, or that of their channel in `fills`.
void WarpArray(const Array& from, const PairedField& field, const AffineMatrix& matrix,
               bool bilinear, Array& to, std::span<const FillValue> fills = {});

}  // namespace stoker
