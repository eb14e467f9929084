// Whether Parquet and Arrow files can be read here.
#pragma once

#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Loads the plug-in, as OpenTableFile (table_file.h) does, and returns the name of Arrow's library
// that it uses, "libarrow.so.2600". Errors: kUnavailable, as OpenTableFile.
Result<std::string> ArrowLibrary();

}  // namespace stoker
