// A file on a server, in order, of which a copy is made on the way.
#pragma once

#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker {

// As MakeRemoteSource. Where such files are to be kept (ShardCache::KeepsEverything) and it is read
// from its first byte to its last, it is in the cache afterwards; what hinders that is no error.
std::unique_ptr<ByteSource> MakeKeptSource(std::shared_ptr<const RemoteFile> file, uint64_t offset,
                                           std::shared_ptr<MemoryAccount> account);

}  // namespace stoker
