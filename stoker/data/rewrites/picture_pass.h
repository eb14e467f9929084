// Pictures in one pass: from the bytes of a file to its place in a batch, without whole pictures in
// between.
#pragma once

#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// What profiles call the stage.
inline constexpr std::string_view kOnePassName = "one_pass";

// `pipeline` itself, unless it is read by position and ends in maps that begin with some that
// decode pictures, move their pixels and finish their values (picture_chain.h): decode, then crops,
// a resize and mirrorings, then normalize, cast and layout, or some of these, of one field or of
// several, with one known size at the end. Then a stage behind them gives the same elements, bit by
// bit, but for many at a time it does their work in one pass: it asks each map what it would do,
// decodes the region that is needed, and resizes, mirrors and normalises row by row into the place
// where the value is to stand. Maps of any other kind that follow, such as changes of colour, it
// goes through one by one, but for those at the end that take many elements at once, such as
// one_hot: they stay behind it. Where a sample's plan cannot be held in one pass (two resizes, a
// resize of a picture with a border), and where it fails, that sample goes through all the maps.
// One element at a time, as the inline runtime reads, always does.
//
// Streams need no such stage: their threads find the maps where they are (runtime/hop.h).
Dataset InOnePass(Dataset pipeline);

// The first of the maps that `node` stands for, if it is such a stage, which no recipe names;
// `node` itself otherwise. For messages to users.
const DatasetNode& FirstMapOf(const DatasetNode& node);

}  // namespace stoker
