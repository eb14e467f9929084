// nlohmann/json.hpp for the precompiled headers of Stoker itself. Its two operators for literals
// ("{}"_json) are no templates: every file that includes it would compile the whole parser for
// them, which takes a second. Here they are declared, and their bodies are templates that nobody
// uses.
#pragma once

#define _json(text, length)  \
  _json(text, length);       \
  template <typename Unused> \
  nlohmann::json UnusedJsonLiteral(text, length)
#define _json_pointer(text, length) \
  _json_pointer(text, length);      \
  template <typename Unused>        \
  nlohmann::json::json_pointer UnusedPointerLiteral(text, length)
#include <nlohmann/json.hpp>
#undef _json
#undef _json_pointer
