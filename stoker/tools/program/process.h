// What both executables set up before anything else.
#pragma once

namespace stoker {

// Call first in main.
//   - SIGINT and SIGTERM end the process with a message, until a command wants otherwise.
//   - A mapped file that is cut shorter while it is read ends it with a message too (lost_page.h).
//   - A limit on file sizes (ulimit -f) makes a write fail, which is reported, where it would have
//     killed the process (SIGXFSZ).
//   - Standard input, output and error are open. Where one was closed, the next file opened, such
//     as a checkpoint's, would have taken its number, and whoever prints would have written to it.
void PrepareProcess();

}  // namespace stoker
