// Loads an IDX file after asking for its memory, or only its first rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/ledger.h"
#include "stoker/base/status.h"

namespace stoker {

// As ReadIdx (idx.h), but calls `admit` with the array's bytes before it allocates them, after
// checking them against the file's size. Errors: also that of `admit`.
Result<Array> ReadIdxIfAdmitted(const std::string& path, std::shared_ptr<MemoryAccount> account,
                                const std::function<Status(int64_t bytes)>& admit);

// Reads the first rows of a file, as many as fit into `most_bytes`, at least one if there is any.
// Does not check the rest.
Result<Array> ReadFirstRowsOfIdx(const std::string& path, int64_t most_bytes);

}  // namespace stoker
