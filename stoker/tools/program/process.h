// The set-up of both executables.
#pragma once

namespace stoker {

// Call first in main.
//   - SIGINT and SIGTERM end the process with a message, until a command changes that.
//   - A mapped file that is truncated while it is read ends it with a message too (lost_page.h).
//   - A limit on file sizes (ulimit -f) makes a write fail with an error instead of killing the
//     process (SIGXFSZ).
//   - Standard input, output and error are open. If one were closed, the next opened file, such as
//     a checkpoint, would get its number, and messages would be written into it.
void PrepareProcess();

}  // namespace stoker
