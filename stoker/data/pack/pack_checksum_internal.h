// The checksum of packed elements: what a record stores of each file, to compare with later.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/pack/pack_format.h"

namespace stoker::internal {

// Returns the CRC-32C of an element: shapes and values, field by field.
uint32_t ElementChecksum(std::span<const Array> arrays);

// Returns the checksum of some elements, and then one more. That of none is 0.
uint32_t JoinedChecksum(uint32_t checksum, uint32_t element);

// Reads the file at `path` to its end, and calls `each` after every element. Errors: kDataLoss if
// it has another number of elements, or others; after any other error the file may be as it should.
Status CheckPackedFile(const PackFormat& format, const std::string& path, const Spec& spec,
                       int64_t elements, uint32_t checksum, const std::function<Status()>& each);

}  // namespace stoker::internal
