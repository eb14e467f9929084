// What is piped into the process, as a source.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Whether `path` is "-" or /dev/stdin, and that is a pipe, a socket or a terminal: a file that was
// redirected is read like any other.
bool IsPipedIn(std::string_view path);

// From its first byte on. A pipe can be read once; so that its start may be looked at before, the
// first 16 MiB are kept until more has been read. Until then it can be opened again, also while
// another source of it is open; threads may read several at once.
// Errors: kFailedPrecondition where its start is gone.
Result<std::unique_ptr<ByteSource>> OpenStandardInput();

// The same of the pipe `fd`, which is borrowed, with as many bytes kept, for tests.
class PipeStart;
std::shared_ptr<PipeStart> MakePipeStart(int fd, size_t keep);
Result<std::unique_ptr<ByteSource>> OpenPipe(std::shared_ptr<PipeStart> pipe);

}  // namespace stoker
