// Lists of files over WebHDFS, which has lists of folders alone.
#pragma once

#include <memory>

#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker::internal {

// Returns the list (RemoteStore::List). Asks folder after folder, in pages where the server has
// them; a folder that is removed meanwhile counts as empty. `dialect` makes the requests and must
// outlive the list. Errors: also kInvalidArgument if folders are nested too deep.
std::unique_ptr<RemoteList> ListWebHdfs(const HttpDialect& dialect, const RemoteAccess& access,
                                        RemoteListRequest request);

}  // namespace stoker::internal
