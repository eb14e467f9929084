#include "stoker/io/side_files.h"

#include <atomic>

namespace stoker {
namespace {

std::atomic<bool> writes = true;

}  // namespace

bool WritesSideFiles() { return writes; }

void WriteNoSideFiles() { writes = false; }

}  // namespace stoker
