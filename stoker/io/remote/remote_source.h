// A file on a server, read in order and ahead, which hides the latency of requests.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker {

// Returns the bytes of `file`, which is positional, from `offset` on.
//
// Requests several consecutive parts at once (options().connections, over all files). The first two
// are small, so that looking at the start of a file fetches little; the others have an eighth of
// options().read_ahead, at most 4 MiB. Memory: read_ahead at most, charged to `account` (may be
// null); while its budget is used up one part, the one that is read next. A part that breaks off
// continues where it stopped. Destroying the source ends its requests at once.
std::unique_ptr<ByteSource> MakeRemoteSource(std::shared_ptr<const RemoteFile> file,
                                             uint64_t offset,
                                             std::shared_ptr<MemoryAccount> account);

}  // namespace stoker
