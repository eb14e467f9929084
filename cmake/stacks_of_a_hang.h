// For the main functions of unit tests: a test that hangs says where, before it is ended.
#pragma once

// Writes the stacks of all threads to stderr after 25 minutes, on SIGALRM: CTest ends a test after
// 30. `kill -ALRM` asks for them sooner. Frames are offsets in the program, for `addr2line -Cfipe`.
// A child of fork() has no alarm, and one of its own ends it.
void WriteStacksOfAHang();
