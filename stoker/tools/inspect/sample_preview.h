// A sample in a few words, for `stoker inspect`: "label 3, image a PNG image of 312 B".
#pragma once

#include <string>

#include "stoker/base/json.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"

namespace stoker {

// Returns each field with its value: numbers; for longer arrays the type and the first values; byte
// strings as text if they are text, else the kind of file that they begin like.
std::string PreviewText(const Element& sample, const Spec& spec);

// {"label": 3, "text": "...", "image": {"dtype", "shape", "first": [...]}, "jpg": {"bytes",
// "kind"}}
Json PreviewJson(const Element& sample, const Spec& spec);

}  // namespace stoker
