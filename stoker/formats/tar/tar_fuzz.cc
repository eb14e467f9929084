// Any bytes are an archive or an error, the same from memory and from a stream but for an end that
// is missing, and members lie inside.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "stoker/formats/tar/tar_reader.h"

namespace {

using namespace stoker;

struct Found {
  std::vector<std::string> names;
  bool ok = true;
};

Found MembersOf(TarInput& input) {
  Found found;
  TarReader reader(input);
  uint64_t at = 0;
  while (true) {
    const Result<std::optional<TarMember>> member = reader.Next();
    found.ok = member.ok();
    if (!member.ok() || !*member) return found;
    if ((*member)->begin < at || (*member)->data > input.bound() ||
        (*member)->size > input.bound() - (*member)->data)
      std::abort();
    at = (*member)->end();
    found.names.push_back((*member)->name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A checksum is hard to guess: where there is room for one, it is made right;
  // blocks of zeros end an archive.
  std::string archive(reinterpret_cast<const char*>(data), size);
  for (size_t at = 0; at + 512 <= archive.size(); at += 512) {
    if (archive.find_first_not_of('\0', at) >= at + 512) continue;
    archive.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(archive[at + i]);
    archive.replace(at + 148, 6, fmt::format("{:06o}", sum));
  }
  const std::string name = "input";
  const auto bytes = std::as_bytes(std::span(archive));
  const Found memory = MembersOf(*MakeTarInput(bytes, 0, name));
  const Found stream = MembersOf(*MakeTarInput(MakeMemorySource(bytes, name)));
  const bool same = memory.ok == stream.ok || (memory.ok && !stream.ok);
  if (!same || memory.names != stream.names) std::abort();
  return 0;
}
