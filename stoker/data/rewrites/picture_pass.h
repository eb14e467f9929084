// Processes pictures in one pass: from the bytes of a file to the slot in a batch, without
// intermediate pictures.
#pragma once

#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// The name of the stage in profiles.
inline constexpr std::string_view kOnePassName = "one_pass";

// `pipeline` itself, unless it is read by position and ends in maps that begin with some that
// decode pictures, move their pixels and finish their values (picture_chain.h): decode, then crops,
// a resize and mirrorings, then normalize, cast and layout, or some of these, of one field or of
// several, with one known size at the end. Then a stage is added that gives the same elements, bit
// by bit, but does the work of these maps in one pass for reads of many elements: it asks each map
// for its plan, decodes the region that is needed, and resizes, mirrors and normalises row by row
// into the destination. It applies following maps of any other kind, such as changes of colour, one
// by one, except those at the end that take many elements at once, such as one_hot, which stay
// after it. A sample whose plan does not fit one pass (two resizes, a resize of a picture with a
// border), or that fails, goes through all the maps. So does a read of one element, as by the
// inline runtime.
//
// Streams need no such stage (runtime/hop.h).
Dataset InOnePass(Dataset pipeline);

// Returns the first of the maps that `node` replaces, if it is such a stage, which recipes do not
// name; else `node`. For messages to users.
const DatasetNode& FirstMapOf(const DatasetNode& node);

}  // namespace stoker
