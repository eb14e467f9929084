// N5 datasets: folders of blocks. README.md has the layout.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/formats/chunked/inflate_block.h"
#include "stoker/formats/n5/n5_attributes.h"

namespace stoker {

// The values of a block file of a dataset, C order, in the byte order of the file, which is
// big-endian: all that it holds, at most a block of `attributes`. Memory, charged to `account` (may
// be null), is asked for only once the file's size allows for it. Errors: kDataLoss, kUnimplemented
// for blocks of varying length (mode 1) and of objects (mode 2); without saying which file.
Result<StoredChunk> ParseN5Block(const N5Attributes& attributes, std::span<const std::byte> block,
                                 const std::shared_ptr<MemoryAccount>& account = nullptr);

// The dataset in `folder`, described by its attributes. Blocks are read when they are asked for;
// one whose file is not there was never written and is all zeros, which is what N5 says of it.
// `folder` may be one on a server.
// Numbers as StoredValue. Errors: kNotFound where there is no such dataset; those of
// ParseN5Attributes and CheckLayout.
Result<std::shared_ptr<const ChunkedArray>> OpenN5(const std::filesystem::path& folder);

// The folders of all datasets in a container, below it, relative to it and sorted; "" where it is a
// dataset itself. Of a container in S3 all names below it are listed; kUnimplemented for one on an
// HTTP server that is no dataset itself. Errors: those of looking into folders, and of
// attributes.json.
Result<std::vector<std::string>> ListN5Datasets(const std::filesystem::path& container);

}  // namespace stoker
