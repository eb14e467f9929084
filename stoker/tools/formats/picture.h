// Which files are pictures, and whether one can be decoded.
#pragma once

#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Whether a file is a picture that Stoker decodes: by its first bytes, or where these are too few
// to be sure (BMP, PNM), by its name or its whole header too. False where it cannot be read.
bool IsPicture(const std::string& path);

// Whether a file's name says that it should be one.
bool IsNamedAsPicture(const std::string& path);

// Decodes the picture. Errors: those of reading the file and of DecodeImage.
Status DecodePicture(const std::string& path);

}  // namespace stoker
