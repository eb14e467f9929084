// Handles pages of mapped files that can no longer be read (SIGBUS), in both executables.
#pragma once

namespace stoker {

// Installs a handler that ends the process with exit code 1 and a message that names the file and
// the byte. The process cannot continue, because a read of memory cannot report an error. As with
// kill -9, finished work is not lost. Any other SIGBUS kills the process as before.
void EndOnLostPage();

}  // namespace stoker
