// The `attributes.json` of an N5 dataset. README.md has its keys.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/shape.h"
#include "stoker/base/status.h"
#include "stoker/formats/chunked/stored_values.h"

namespace stoker {

enum class N5Compression { kRaw, kGzip, kZlib, kZstd };

struct N5Attributes {
  // C order: the dimensions of the file reversed, so the last one it lists, the slowest, is the
  // first, along which rows lie.
  Shape shape;
  Shape block_shape;
  StoredValue value;
  N5Compression compression = N5Compression::kRaw;
};

// `name` begins messages. Errors: kDataLoss for a malformed description, naming the key and the
// byte at which its value begins, or the byte up to which the text is JSON; kUnimplemented for
// other types and compressions, likewise.
Result<N5Attributes> ParseN5Attributes(std::string_view json, const std::string& name);

// Returns whether these are the attributes of a dataset and not of a group. Errors: kDataLoss for
// anything but a JSON object, with the byte.
Result<bool> DescribesN5Dataset(std::string_view json, const std::string& name);

}  // namespace stoker
