#include "stoker/formats/tar/tar_writer.h"

#include <algorithm>
#include <array>

#include "stoker/formats/tar/tar_block_internal.h"

namespace stoker {
namespace {

constexpr size_t kNameBytes = 100, kPrefixBytes = 155;
constexpr uint64_t kMostOctal = uint64_t{1} << 33;  // eleven digits

// Where a name is cut so that what is after the slash fits into the header's name and what is
// before it into its prefix; 0: it fits as it is, npos: not at all.
size_t PrefixOf(std::string_view name) {
  if (name.size() <= kNameBytes) return 0;
  const size_t slash = name.find('/', name.size() - kNameBytes - 1);
  return slash == name.npos || slash == 0 || slash > kPrefixBytes || slash + 1 == name.size()
             ? name.npos
             : slash;
}

std::string HeaderOf(std::string_view name, std::string_view prefix, uint64_t size, char type) {
  std::array<char, kTarBlock> header{};
  const auto put = [&](size_t at, std::string_view text) {
    std::ranges::copy(text, header.begin() + static_cast<ptrdiff_t>(at));
  };
  put(0, name);
  put(100, "0000644");  // mode
  put(108, "0000000");  // user
  put(116, "0000000");  // group
  put(124, fmt::format("{:011o}", size < kMostOctal ? size : 0));
  put(136, "00000000000");  // time
  put(148, "        ");
  header[156] = type;
  put(257, "ustar");
  put(263, "00");
  put(345, prefix);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return {header.data(), header.size()};
}

// "LENGTH KEY=VALUE\n", where LENGTH counts itself.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + std::to_string(rest).size();
  length = rest + std::to_string(length).size();
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

Result<TarWriter> TarWriter::Create(std::string path, Compression compression) {
  STOKER_ASSIGN_OR_RETURN(CompressedFileWriter file,
                          CompressedFileWriter::Create(std::move(path), compression));
  return TarWriter(std::move(file));
}

Status TarWriter::Append(std::string_view name, std::span<const std::byte> data) {
  if (name.empty() || name.find('\0') != name.npos)
    return InvalidArgument("'{}' is no name of a member; give one without zero bytes", name);
  const size_t slash = PrefixOf(name);
  std::string pax;
  if (slash == name.npos) pax += PaxRecord("path", name);
  if (data.size() >= kMostOctal) pax += PaxRecord("size", std::to_string(data.size()));
  if (!pax.empty()) {
    STOKER_RETURN_IF_ERROR(AppendMember("pax", "", pax.size(), 'x', std::as_bytes(std::span(pax))));
  }
  if (slash == name.npos)
    return AppendMember(name.substr(name.size() - kNameBytes), "", data.size(), '0', data);
  return AppendMember(slash == 0 ? name : name.substr(slash + 1), name.substr(0, slash),
                      data.size(), '0', data);
}

Status TarWriter::AppendMember(std::string_view name, std::string_view prefix, uint64_t size,
                               char type, std::span<const std::byte> data) {
  STOKER_RETURN_IF_ERROR(file_.Append(HeaderOf(name, prefix, size, type)));
  if (!data.empty()) STOKER_RETURN_IF_ERROR(file_.Append(data));
  offset_ += kTarBlock + data.size();
  const std::string padding((kTarBlock - data.size() % kTarBlock) % kTarBlock, '\0');
  offset_ += padding.size();
  return padding.empty() ? OkStatus() : file_.Append(padding);
}

Status TarWriter::Commit() {
  STOKER_RETURN_IF_ERROR(file_.Append(std::string(2 * kTarBlock, '\0')));
  return file_.Commit();
}

}  // namespace stoker
