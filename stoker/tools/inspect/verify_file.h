// Whether files are whole.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"
#include "stoker/tools/formats/verification.h"

namespace stoker {

// Reads all of a file of any format that InspectFile knows, and of pictures. Of a .stoker shard
// every damaged block is listed, of a plain TFRecord file every damaged record, of others the first
// error. Of the pictures in a tar archive, whose data have no checksum, all of a kind that Stoker
// reads are decoded, and every damaged one is listed; those of more bytes or pixels than
// DecodeImage takes are only counted. Damaged is only what has other bytes than it should
// (kDataLoss). What is of no such format, or of a kind that is not read (kUnimplemented), cannot be
// checked; what is not there, is no regular file or may not be read, could not be read: all that is
// neither whole nor damaged.
Verification VerifyFile(const std::string& path);

// What a command that looked at so many files ends with where some of them, one or more, are not
// whole (kDataLoss), or could not be read (kFailedPrecondition).
Status FilesNotWhole(int64_t damaged, int64_t files);
Status FilesNotRead(int64_t unread, int64_t files);

}  // namespace stoker
