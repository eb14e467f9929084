// Loading an IDX file where the reader must agree to its memory first, or only its begin.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/ledger.h"
#include "stoker/base/status.h"

namespace stoker {

// As ReadIdx (idx.h), but asks `admit` before it takes the array's memory, with its bytes, once the
// file's size allows for them. Errors: also that of `admit`, which ends the call.
Result<Array> ReadIdxIfAdmitted(const std::string& path, std::shared_ptr<MemoryAccount> account,
                                const std::function<Status(int64_t bytes)>& admit);

// The first rows of a file, as many as take `most_bytes`, at least one where there is any. What
// follows them is not looked at.
Result<Array> ReadFirstRowsOfIdx(const std::string& path, int64_t most_bytes);

}  // namespace stoker
