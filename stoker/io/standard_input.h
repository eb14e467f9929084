// Standard input as a source.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// Returns whether `path` is "-" or /dev/stdin, and that is a pipe, a socket or a terminal; a
// redirected file is read like any other.
bool IsPipedIn(std::string_view path);

// Opens standard input from its first byte. The first 16 MiB of a pipe are kept until more has been
// read; until then it can be opened again, also while another source of it is open, and threads may
// read several at once. Errors: kFailedPrecondition if its start is gone.
Result<std::unique_ptr<ByteSource>> OpenStandardInput();

// Copies a pipe to a file without a name in $TMPDIR, or /tmp if that is not set, which becomes
// standard input: for random access and repeated reading. Does nothing if standard input is a file.
// Takes as much of the disk as is piped in, for as long as the process lives. Call it before
// threads read standard input. Errors: kFailedPrecondition if the pipe's start is gone; those of
// reading; kNotFound if there is no such directory, and those of writing, such as
// kResourceExhausted for a full disk, with the directory, how many bytes were copied, and what to
// do.
Status MakeStandardInputAFile();

// Makes that copy, of the rest of `pipe`, in `folder`.
Result<Descriptor> CopyIntoFolder(ByteSource& pipe, const std::filesystem::path& folder);

// OpenStandardInput for the pipe `fd`, which is borrowed, with this many bytes kept; for tests.
class PipeStart;
std::shared_ptr<PipeStart> MakePipeStart(int fd, size_t keep);
Result<std::unique_ptr<ByteSource>> OpenPipe(std::shared_ptr<PipeStart> pipe);

}  // namespace stoker
