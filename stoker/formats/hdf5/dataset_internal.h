// Opens a dataset from its object header.
#pragma once

#include <memory>
#include <string>

#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/formats/hdf5/object_internal.h"

namespace stoker::internal {

// `where` begins messages: "a.h5: /train/x". Errors: those of Hdf5File::OpenDataset.
Result<std::shared_ptr<const ChunkedArray>> OpenHdf5Dataset(
    std::shared_ptr<const Hdf5Content> content, const Hdf5Object& object, std::string where);

}  // namespace stoker::internal
