#include "stoker/tools/inspect/content.h"

#include <memory>
#include <span>

#include "stoker/formats/probe/file_kind.h"
#include "stoker/io/byte_source.h"

namespace stoker {

Result<std::string> ReadContentPrefix(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::string prefix(kProbeBytes, '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t size,
                          source->ReadFully(std::as_writable_bytes(std::span(prefix))));
  prefix.resize(size);
  return prefix;
}

}  // namespace stoker
