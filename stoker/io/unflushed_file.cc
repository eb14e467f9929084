#include "stoker/io/unflushed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>

#include "stoker/io/descriptor.h"
#include "stoker/io/temporary.h"

namespace stoker {

Status WriteFileUnflushed(const std::string& path, std::string_view contents) {
  const std::string made = internal::TemporaryName(path);
  const Descriptor file = OpenUninterrupted(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  if (!file.valid()) return internal::WriteError(errno, path, "cannot create it");
  Status status = internal::WriteAll(file.get(), std::as_bytes(std::span(contents)), path, 0);
  if (status.ok() && std::rename(made.c_str(), path.c_str()) != 0)
    status = internal::WriteError(errno, path, "cannot give the finished file its name");
  if (!status.ok()) ::unlink(made.c_str());
  return status;
}

}  // namespace stoker
