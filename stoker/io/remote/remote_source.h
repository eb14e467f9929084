// A file on a server, in order: read ahead, so that the way there and back is not waited for.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker {

// The bytes of `file`, which is positional, from `offset` on.
//
// Several parts are asked for at once, behind one another (options().connections, over all files);
// the first two are small, so that whoever only looks at the start of a file does not fetch much of
// it; all behind them take an eighth of options().read_ahead, at most 4 MiB each. Memory:
// read_ahead at most, charged to `account` (may be null). A part that breaks off goes on where it
// stood. Destroying the source ends its requests at once.
std::unique_ptr<ByteSource> MakeRemoteSource(std::shared_ptr<const RemoteFile> file,
                                             uint64_t offset,
                                             std::shared_ptr<MemoryAccount> account);

}  // namespace stoker
