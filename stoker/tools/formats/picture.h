// Recognises pictures, and checks whether one can be decoded.
#pragma once

#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Whether a file is a picture that Stoker decodes: by its first bytes, and also by its name or its
// whole header if these are ambiguous (BMP, PNM). False if it cannot be read.
bool IsPicture(const std::string& path);

// Returns whether a file's name is that of a picture.
bool IsNamedAsPicture(const std::string& path);

// Decodes the picture. Errors: those of reading the file and of DecodeImage.
Status DecodePicture(const std::string& path);

}  // namespace stoker
