#include "stoker/base/host_name.h"

#include "stoker/base/proc_text.h"

namespace stoker {

const std::string& HostName() {
  static const std::string& name = *new std::string([] {
    const std::string text = ReadSmallText("/proc/sys/kernel/hostname");
    return text.empty() ? std::string("localhost") : text;
  }());
  return name;
}

}  // namespace stoker
