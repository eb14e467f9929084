// What both executables do where a page of a mapped file can no longer be read (SIGBUS).
#pragma once

namespace stoker {

// From now on the process ends with exit code 1 and a message that names the file and the byte. It
// cannot go on: whoever reads the memory has no way to be told of an error. Nothing that is
// finished is lost, as with kill -9. Any other SIGBUS kills the process as before.
void EndOnLostPage();

}  // namespace stoker
