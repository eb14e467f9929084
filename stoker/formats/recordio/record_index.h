// The text file "a.idx" that MXNet writes beside "a.rec": KEY<tab>OFFSET a line, one for each
// record, in any order. Stoker finds records by itself and reads them in the order of the file;
// what the index is good for here is that it must agree: one that does not belongs to another file,
// or picks records of this one, and neither should pass in silence.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// "d/a.idx" for "d/a.rec", where there is such a file on this machine; else empty.
std::string FindRecordIoIndex(const std::string& path);

// Whether the index lists each record of the file `records` once. Keys may be anything; blank lines
// are passed over. Costs one bit a record, and a search for each line.
//   offsets  where its records begin and the last one ends, as ScanRecordIo gives them
// Errors: kDataLoss with line, record and byte, and both files; those of reading the index.
Status CheckRecordIoIndex(std::unique_ptr<ByteSource> index, const std::string& records,
                          std::span<const uint64_t> offsets);

// The same of the index that FindRecordIoIndex finds; success where there is none.
Status CheckRecordIoIndexOf(const std::string& path, std::span<const uint64_t> offsets);

}  // namespace stoker
