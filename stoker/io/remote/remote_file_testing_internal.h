// How tests read a file on a server. Only tests include it.
#pragma once

#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

inline Result<std::string> ReadAll(const std::string& url) {
  STOKER_ASSIGN_OR_RETURN(const auto source, OpenByteSource(url));
  std::string all(source->size_bound().exact ? source->size_bound().bytes : 1 << 20, '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          source->ReadFully(std::as_writable_bytes(std::span(all))));
  all.resize(got);
  return all;
}

}  // namespace stoker
