// A file on a server, read in order and copied to the cache while it is read.
#pragma once

#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker {

// As MakeRemoteSource. If such files are to be kept (ShardCache::KeepsEverything) and it is read
// from its first byte to its last, it is in the cache afterwards; failing to keep it is not an
// error.
std::unique_ptr<ByteSource> MakeKeptSource(std::shared_ptr<const RemoteFile> file, uint64_t offset,
                                           std::shared_ptr<MemoryAccount> account);

}  // namespace stoker
