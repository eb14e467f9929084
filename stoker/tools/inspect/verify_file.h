// Verifies files.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"
#include "stoker/tools/formats/verification.h"

namespace stoker {

// Reads all of a file of any format that InspectFile knows, or of a picture. Lists every damaged
// block of a .stoker shard, every damaged record of a plain TFRecord file, and the first error of
// others. Decodes the pictures in a tar archive, whose data have no checksum, and lists every
// damaged one; only counts those too large for DecodeImage. Only wrong bytes (kDataLoss) are
// damage. A file of another format, or of a kind that is not supported (kUnimplemented), cannot be
// checked; a missing file, one that is not regular or is not accessible could not be read. Those
// are neither whole nor damaged.
Verification VerifyFile(const std::string& path);

// Return the final status of a command over `files` files of which at least one is not whole
// (kDataLoss), or could not be read (kFailedPrecondition).
Status FilesNotWhole(int64_t damaged, int64_t files);
Status FilesNotRead(int64_t unread, int64_t files);

}  // namespace stoker
