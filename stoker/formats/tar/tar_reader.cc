#include "stoker/formats/tar/tar_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "stoker/formats/probe/file_kind.h"
#include "stoker/formats/tar/tar_block_internal.h"

namespace stoker {
namespace {

// The longest name, or pax records, that are taken.
constexpr uint64_t kMostText = 1 << 20;

struct Part {
  size_t at, size;
};
constexpr Part kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 6}, kPrefix{345, 155};
constexpr size_t kType = 156;

class FileInput final : public TarInput {
 public:
  explicit FileInput(const File& file) : file_(file) {}
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> out) override {
    return file_.ReadUpTo(offset, out);
  }
  uint64_t bound() const override { return file_.size(); }
  const std::string& name() const override { return file_.path(); }

 private:
  const File& file_;
};

class MemoryInput final : public TarInput {
 public:
  MemoryInput(std::span<const std::byte> bytes, uint64_t offset, const std::string& name)
      : bytes_(bytes), offset_(offset), name_(name) {}
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> out) override {
    if (offset < offset_ || offset > bound()) return size_t{0};
    const size_t size = std::min<uint64_t>(out.size(), bound() - offset);
    std::copy_n(bytes_.data() + (offset - offset_), size, out.data());
    return size;
  }
  bool is_part() const override { return true; }
  uint64_t bound() const override { return offset_ + bytes_.size(); }
  const std::string& name() const override { return name_; }

 private:
  const std::span<const std::byte> bytes_;
  const uint64_t offset_;
  const std::string& name_;
};

class StreamInput final : public TarInput {
 public:
  explicit StreamInput(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> out) override {
    if (offset < source_->position())
      return Internal("{}: a stream cannot go back to byte {}", name(), offset);
    std::array<std::byte, 16 << 10> skipped;
    while (source_->position() < offset) {
      const auto part = std::min<uint64_t>(offset - source_->position(), skipped.size());
      STOKER_ASSIGN_OR_RETURN(const size_t got,
                              source_->Read(std::span(skipped).first(static_cast<size_t>(part))));
      if (got == 0) return size_t{0};
    }
    return out.empty() ? Result<size_t>(0) : source_->ReadFully(out);
  }
  uint64_t bound() const override { return source_->size_bound().bytes; }
  const std::string& name() const override { return source_->name(); }

 private:
  const std::unique_ptr<ByteSource> source_;
};

using Block = std::array<std::byte, kTarBlock>;

// Up to the first zero byte.
std::string_view TextOf(const Block& block, Part part) {
  const std::string_view text(reinterpret_cast<const char*>(block.data()) + part.at, part.size);
  return text.substr(0, text.find('\0'));
}

std::optional<uint64_t> Octal(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return 0;
  text = text.substr(begin, text.find_first_of(std::string_view(" \0", 2), begin) - begin);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Octal digits, or binary where bit 7 of the first byte says so.
std::optional<uint64_t> SizeOf(const Block& block) {
  const auto byte = [&](size_t i) { return std::to_integer<uint64_t>(block[kSize.at + i]); };
  if ((byte(0) & 0x80) == 0) return Octal(TextOf(block, kSize));
  if (byte(0) != 0x80 || byte(1) != 0 || byte(2) != 0 || byte(3) != 0 || byte(4) > 0x7f)
    return std::nullopt;  // negative, or beyond 63 bits
  uint64_t value = 0;
  for (size_t i = 4; i < kSize.size; ++i) value = value << 8 | byte(i);
  return value;
}

bool HasChecksum(const Block& block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= kChecksum.at && i < kChecksum.at + kChecksum.size;
    sum += own ? uint64_t{' '} : std::to_integer<uint64_t>(block[i]);
  }
  return Octal(TextOf(block, kChecksum)) == sum;
}

bool IsZero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

std::string NameOf(const Block& block) {
  const std::string_view name = TextOf(block, kName);
  const bool posix = std::memcmp(block.data() + kMagic.at, "ustar", kMagic.size) == 0;
  const std::string_view prefix = posix ? TextOf(block, kPrefix) : std::string_view();
  return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
}

Status SparseFile(const std::string& archive, uint64_t at, std::string_view name) {
  return Unimplemented(
      "{}: byte {}: '{}' is stored as a sparse file, without its holes, which is not read; make "
      "the archive again without --sparse",
      archive, at, name);
}

Status CutShort(const std::string& name, uint64_t at, std::string_view what) {
  return DataLoss(
      "{}: byte {}: the archive ends in the middle of {}; it was cut short: copy or download it "
      "again",
      name, at, what);
}

}  // namespace

std::unique_ptr<TarInput> MakeTarInput(const File& file) {
  return std::make_unique<FileInput>(file);
}
std::unique_ptr<TarInput> MakeTarInput(std::span<const std::byte> bytes, uint64_t offset,
                                       const std::string& name) {
  return std::make_unique<MemoryInput>(bytes, offset, name);
}
std::unique_ptr<TarInput> MakeTarInput(std::unique_ptr<ByteSource> source) {
  return std::make_unique<StreamInput>(std::move(source));
}

// A header or a block of zeros; false at the end of the input.
Result<bool> TarReader::ReadBlock(Block& block) {
  STOKER_ASSIGN_OR_RETURN(const size_t got, input_.ReadAt(next_, block));
  if (IsZero(std::span(block).first(got)) && (got == kTarBlock || (ended_ && got > 0))) {
    next_ += got;
    ended_ = true;
    return got == kTarBlock;
  }
  if (got == 0) {
    STOKER_RETURN_IF_ERROR(CheckEnd());
    return false;
  }
  STOKER_RETURN_IF_ERROR(CheckHeader(block, got));
  ended_ = false;
  return true;
}

Status TarReader::CheckEnd() const {
  if (ended_ || input_.is_part()) return OkStatus();
  if (next_ == 0) return DataLoss("{}: an empty file is no tar archive", input_.name());
  return DataLoss(
      "{}: byte {}: the archive ends without the block of zeros that ends one: it was cut short, "
      "or whatever wrote it was stopped; copy or download it again, or if nothing is missing add "
      "its end: head -c 1024 /dev/zero >> FILE",
      input_.name(), std::min(next_, input_.bound()));
}

// The first `got` bytes of a block that is there, and not of zeros.
Status TarReader::CheckHeader(const Block& block, size_t got) const {
  if (got == kTarBlock && HasChecksum(block)) return OkStatus();
  if (ended_) {
    return DataLoss(
        "{}: byte {}: after the end of the archive stands what is neither zeros nor another "
        "archive; copy or download it again, or cut it off here",
        input_.name(), next_);
  }
  if (next_ > 0 && got < kTarBlock) return CutShort(input_.name(), next_, "a header");
  if (next_ > 0) {
    return DataLoss(
        "{}: byte {}: the header that should be here lacks its checksum; copy or download the "
        "archive again",
        input_.name(), next_);
  }
  const auto start = std::span(block).first(got);
  const FileKind kind = ProbeFile(start);
  const bool known = kind != FileKind::kUnknown && kind != FileKind::kTar;
  return DataLoss("{}: byte 0: this is {}; check the path", input_.name(),
                  known ? fmt::format("{}, no tar archive", DescribeStart(start))
                        : "no tar archive, or its first header is damaged");
}

Status TarReader::CheckSize(const TarMember& member) const {
  const uint64_t bound = input_.bound();
  if (bound >= member.data && member.size <= bound - member.data) return OkStatus();
  return CutShort(input_.name(), member.begin,
                  fmt::format("'{}', which announces {} bytes", member.name, member.size));
}

// The data of a member that says something about the next.
Result<std::string> TarReader::ReadText(const TarMember& of) {
  if (of.size > kMostText) {
    return DataLoss("{}: byte {}: a name or attributes of {} bytes, at most {} are taken",
                    input_.name(), of.begin, of.size, kMostText);
  }
  std::string text(static_cast<size_t>(of.size), '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          input_.ReadAt(of.data, std::as_writable_bytes(std::span(text))));
  if (got < text.size()) return CutShort(input_.name(), of.begin, "a name or attributes");
  return text;
}

Status TarReader::ReadPax(const TarMember& of, std::optional<std::string>& name,
                          std::optional<uint64_t>& size) const {
  std::string_view text = of.name;  // its data
  bool sparse = false;
  const auto damaged = [&] {
    return DataLoss("{}: byte {}: the pax attributes here make no sense; copy the archive again",
                    input_.name(), of.begin);
  };
  while (!text.empty() && text.front() != '\0') {
    size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<size_t>(end - text.data());
    if (error != std::errc() || length > text.size() || length < digits + 3 ||
        text[digits] != ' ' || text[length - 1] != '\n')
      return damaged();
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    if (equals == record.npos) return damaged();
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    sparse = sparse || key.starts_with("GNU.sparse.");
    if (key == "path" || key == "GNU.sparse.name") name = std::string(value);
    if (key == "size") {
      uint64_t number = 0;
      const auto result = std::from_chars(value.data(), value.data() + value.size(), number);
      if (result.ec != std::errc() || result.ptr != value.data() + value.size()) return damaged();
      size = number;
    }
    text.remove_prefix(length);
  }
  if (sparse) return SparseFile(input_.name(), of.begin, name.value_or("a member"));
  return OkStatus();
}

Result<std::optional<TarMember>> TarReader::Next() {
  std::optional<std::string> name;
  std::optional<uint64_t> size;
  uint64_t first = next_;
  bool awaited = false;  // a member that headers before its own say something about
  while (true) {
    Block block;
    STOKER_ASSIGN_OR_RETURN(const bool there, ReadBlock(block));
    if (awaited && (!there || ended_)) {
      return CutShort(input_.name(), first,
                      "a member: its name or attributes are here, but nothing after them");
    }
    if (!there) return std::nullopt;
    if (ended_) {
      first = next_;
      continue;
    }
    const char type = static_cast<char>(block[kType]);
    const bool attributes = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    TarMember member{.name = NameOf(block), .begin = first, .data = next_ + kTarBlock};
    const std::optional<uint64_t> announced = SizeOf(block);
    if (!announced) {
      return DataLoss("{}: byte {}: the size of '{}' is no number; copy or download it again",
                      input_.name(), next_, member.name);
    }
    member.size = !attributes && size ? *size : *announced;
    STOKER_RETURN_IF_ERROR(CheckSize(member));
    next_ = member.end();
    if (!attributes) {
      if (name) member.name = *std::move(name);
      if (type == 'S') return SparseFile(input_.name(), first, member.name);
      if (type == '0' || type == '\0' || type == '7') return member;
      name.reset();
      size.reset();
      awaited = false;
      first = next_;
      continue;
    }
    awaited = awaited || type != 'g';  // `g` is about all that follow, if there are any
    if (type == 'g' || type == 'K') continue;
    STOKER_ASSIGN_OR_RETURN(std::string text, ReadText(member));
    member.name = std::move(text);
    if (type == 'L') name = member.name.substr(0, member.name.find('\0'));
    if (type == 'x') STOKER_RETURN_IF_ERROR(ReadPax(member, name, size));
  }
}

Result<std::vector<uint64_t>> ScanTarSamples(const File& file) {
  const std::unique_ptr<TarInput> input = MakeTarInput(file);
  TarReader reader(*input);
  std::vector<uint64_t> offsets;
  std::string key;
  uint64_t end = 0;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    if (!member) break;
    const std::optional<SampleName> name = SplitSampleName(member->name);
    if (!name) continue;
    if (offsets.empty() || name->key != key) offsets.push_back(member->begin);
    key = name->key;
    end = std::min(member->end(), file.size());
  }
  offsets.push_back(end);
  return offsets;
}

}  // namespace stoker
