// Data sets that are split into several files: "x-00003-of-00128".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Returns "dir/x-00003-of-00128.gz" for "dir/x", 3, 128, ".gz".
std::string ShardName(std::string_view base, int64_t shard, int64_t shards,
                      std::string_view extension = "");

// Returns the name that all shards of a set share: "dir/x.gz" for "dir/x-00003-of-00128.gz"; any
// other path unchanged.
std::string WithoutShardNumber(const std::string& path);

// Returns all shards of a set written as "dir/x@128" or "dir/x@128.gz"; nothing for any other
// `text`.
std::vector<std::string> ShardsOf(const std::string& text);

// Returns kNotFound if a set of shards among `found`, which match `pattern` (io/glob.h), lacks one
// that would match too. A pattern that names a part of a set on purpose ("x-0000[0-3]-of-00128")
// does not match the others.
Status CheckShards(const std::string& pattern, const std::vector<std::string>& found);

}  // namespace stoker
