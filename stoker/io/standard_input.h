// What is piped into the process, as a source.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// Whether `path` is "-" or /dev/stdin, and that is a pipe, a socket or a terminal: a file that was
// redirected is read like any other.
bool IsPipedIn(std::string_view path);

// From its first byte on. A pipe can be read once; so that its start may be looked at before, the
// first 16 MiB are kept until more has been read. Until then it can be opened again, also while
// another source of it is open; threads may read several at once.
// Errors: kFailedPrecondition where its start is gone.
Result<std::unique_ptr<ByteSource>> OpenStandardInput();

// Copies what is piped in to a file without a name in $TMPDIR, or /tmp where that is not set, which
// is standard input from then on: for who reads it here and there, or several times. Nothing is to
// do where it is a file. Takes as much of the disk as is piped in, for as long as the process
// lives. Call it before there are threads that read standard input. Errors: kFailedPrecondition
// where the pipe's start is gone; those of reading; kNotFound where there is no such directory, and
// those of writing, such as kResourceExhausted for a full disk, with the directory, how many bytes
// were copied, and what to do.
Status MakeStandardInputAFile();

// That copy, of all that is left of `pipe`, in `folder`.
Result<Descriptor> CopyIntoFolder(ByteSource& pipe, const std::filesystem::path& folder);

// OpenStandardInput of the pipe `fd`, which is borrowed, with as many bytes kept, for tests.
class PipeStart;
std::shared_ptr<PipeStart> MakePipeStart(int fd, size_t keep);
Result<std::unique_ptr<ByteSource>> OpenPipe(std::shared_ptr<PipeStart> pipe);

}  // namespace stoker
