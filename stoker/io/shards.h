// Sets of files that one data set is split into: "x-00003-of-00128".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// "dir/x-00003-of-00128.gz" for "dir/x", 3, 128, ".gz".
std::string ShardName(std::string_view base, int64_t shard, int64_t shards,
                      std::string_view extension = "");

// The name that all shards of a set share: "dir/x.gz" for "dir/x-00003-of-00128.gz"; any other path
// as it is.
std::string WithoutShardNumber(const std::string& path);

// All of a set that is written as "dir/x@128" or "dir/x@128.gz"; nothing where `text` is no such.
std::vector<std::string> ShardsOf(const std::string& text);

// kNotFound where a set of shards among `found`, which match `pattern` (io/glob.h), lacks one that
// would match too. Who names a part of a set on purpose ("x-0000[0-3]-of-00128") has a pattern that
// the others do not match.
Status CheckShards(const std::string& pattern, const std::vector<std::string>& found);

}  // namespace stoker
