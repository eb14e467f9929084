// The text file "a.idx" that MXNet writes beside "a.rec": KEY<tab>OFFSET a line, one for each
// record, in any order. Stoker finds records by itself and reads them in the order of the file. It
// only checks that the index agrees: one that does not belongs to another file or selects records
// of this one, which must not pass unnoticed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Returns "d/a.idx" for "d/a.rec" if that file exists on this machine; else empty.
std::string FindRecordIoIndex(const std::string& path);

// Checks that the index lists each record of the file `records` once. Keys may be anything; blank
// lines are ignored. Costs one bit a record, and a search for each line.
//   offsets  where its records begin and the last one ends, as ScanRecordIo gives them
// Errors: kDataLoss with line, record and byte, and both files; those of reading the index.
Status CheckRecordIoIndex(std::unique_ptr<ByteSource> index, const std::string& records,
                          std::span<const uint64_t> offsets);

// Checks the index that FindRecordIoIndex finds; succeeds if there is none.
Status CheckRecordIoIndexOf(const std::string& path, std::span<const uint64_t> offsets);

}  // namespace stoker
