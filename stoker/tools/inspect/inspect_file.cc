#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/tools/inspect/content.h"
#include "stoker/tools/inspect/inspect_samples.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/inspect/text_kind.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// Recipes are small; a larger text is not read only to see whether it is one.
constexpr uint64_t kLargestRecipe = 1 << 20;

// What is around the content: "gzip", "zstd", "xz" or "bzip2"; empty where nothing is.
std::string_view CompressionOf(FileKind stored) {
  switch (stored) {
    case FileKind::kGzip: return "gzip";
    case FileKind::kZstd: return "zstd";
    case FileKind::kXz: return "xz";
    case FileKind::kBzip2: return "bzip2";
    default: return "";
  }
}

// Reads to the end, where the checksum is, and counts.
Result<uint64_t> DecompressedBytes(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::vector<std::byte> chunk(1 << 20);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t size, source->ReadFully(chunk));
    if (size < chunk.size()) return source->position();
  }
}

bool LooksLikeRecipe(const std::string& path, uint64_t size) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return true;
  if (size > kLargestRecipe) return false;
  const Result<std::string> text = ReadTextFile(path);
  const Result<ConfigNode> tree = text.ok() ? ParseYaml(*text, path) : text.status();
  return tree.ok() && (tree->Find("data") || tree->Find("model") || tree->Find("train"));
}

Result<Inspection> InspectOther(const std::string& path, const File& file, FileKind stored,
                                FileKind content) {
  Inspection out;
  out.json = {{"file", path}, {"format", FileKindName(content)}, {"bytes", file.size()}};
  out.text =
      fmt::format("{}: {}, {}", Printable(path), FileKindName(stored), ByteText(file.size()));
  if (const std::string_view compression = CompressionOf(stored); !compression.empty()) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, DecompressedBytes(path));
    out.json["compressed"] = compression;
    out.json["decompressed_bytes"] = bytes;
    out.text += fmt::format("; whole, holds {}, {}", FileKindName(content), ByteText(bytes));
  }
  out.text += '\n';
  return out;
}

// ".csv" of "a.csv", also where .gz or another compression's ending follows it.
std::string ExtensionOf(const std::string& path) {
  return std::filesystem::path(WithoutCompressedEnding(path)).extension().string();
}

// Whether it is lines that nothing else is known of: by the content, or by the name where the first
// bytes may be those of a text.
bool IsText(const std::string& path, FileKind content) {
  if (content == FileKind::kText) return true;
  return ExtensionOf(path) == ".txt" &&
         (content == FileKind::kJson || content == FileKind::kUnknown);
}

using Inspect = Result<Inspection> (*)(const std::string& path);

// How to inspect a text whose content does not tell what it is; nothing where its name does not
// either.
Inspect InspectionByName(const std::string& path) {
  const std::string extension = ExtensionOf(path);
  if (extension == ".csv" || extension == ".tsv") return InspectCsv;
  if (extension == ".jsonl" || extension == ".ndjson") return InspectJsonl;
  if (extension == ".libsvm" || extension == ".svm" || extension == ".svmlight")
    return InspectLibsvm;
  return nullptr;
}

// The same of a text without a name, by its first lines; nothing where they do not tell.
Inspect InspectionByLines(std::string_view lines) {
  switch (KindOfLines(lines)) {
    case TextKind::kCsv: return InspectCsv;
    case TextKind::kJsonl: return InspectJsonl;
    case TextKind::kLibsvm: return InspectLibsvm;
    case TextKind::kOther: return nullptr;
  }
  return nullptr;
}

// The first lines of the content, decompressed.
Result<std::string> ReadFirstLines(const std::string& path) {
  constexpr size_t kLookedAt = 64 << 10;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::string text(kLookedAt, '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t size,
                          source->ReadFully(std::as_writable_bytes(std::span(text))));
  text.resize(size);
  return text;
}

// The first record's length has its checksum, which nothing else has there.
Result<bool> IsTfRecord(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = OpenTfRecordSource(path, TfRecordCompression::kAuto);
  if (!source.ok()) return source.status();
  std::array<std::byte, kTfRecordHeaderBytes> start;
  const Result<size_t> got = (*source)->ReadFully(start);
  return got.ok() && BeginsTfRecord(std::span(start).first(*got));
}

// Damaged archives count too, where the name says what they should be.
bool IsPt(const std::string& path, FileKind stored) {
  if (stored == FileKind::kOldTorch) return true;
  if (stored != FileKind::kZip) return false;
  const Result<ZipFile> archive = ZipFile::Open(path);
  return archive.ok() ? IsPtArchive(*archive) : path.ends_with(".pt") || path.ends_with(".pth");
}

// Blocks of zeros alone are an archive of nothing (`tar -cf x.tar -T /dev/null`), where the name
// does not say that they should be something else.
Result<bool> IsEmptyTar(const std::string& path, std::string_view prefix) {
  const auto is_zero = [](char c) { return c == 0; };
  const std::string extension = ExtensionOf(path);
  if (prefix.size() < kProbeBytes || !std::ranges::all_of(prefix, is_zero)) return false;
  if (!extension.empty() && extension != ".tar" && extension != ".tgz") return false;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::string chunk(16 << 10, '\0');
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t size,
                            source->ReadFully(std::as_writable_bytes(std::span(chunk))));
    if (!std::ranges::all_of(chunk.substr(0, size), is_zero)) return false;
    if (size < chunk.size()) return source->position() % kProbeBytes == 0;
  }
}

Result<Inspection> InspectByContent(const std::string& path) {
  if (IsN5(path)) return InspectN5(path);
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  STOKER_ASSIGN_OR_RETURN(const bool tfrecord, IsTfRecord(path));
  if (tfrecord) return InspectTfRecord(path);
  std::array<std::byte, kProbeBytes> prefix;
  STOKER_ASSIGN_OR_RETURN(const size_t size, file.ReadUpTo(0, prefix));
  const FileKind stored = ProbeFile(std::span(prefix).first(size));
  STOKER_ASSIGN_OR_RETURN(const std::string content_prefix, ReadContentPrefix(path));
  const FileKind content = ProbeFile(std::as_bytes(std::span(content_prefix)));
  if (content == FileKind::kIdx) return InspectIdx(path);
  STOKER_ASSIGN_OR_RETURN(const bool empty_tar, IsEmptyTar(path, content_prefix));
  if (content == FileKind::kTar || empty_tar) return InspectTar(path);
  if (stored == FileKind::kStoker) return InspectStoker(path);
  if (stored == FileKind::kElements) return InspectElements(path);
  if (stored == FileKind::kLmdb) return InspectLmdb(path);
  if (stored == FileKind::kHdf5) return InspectHdf5(path);
  if (stored == FileKind::kRecordIo) return InspectRecordIo(path);
  if (stored == FileKind::kZip && path.ends_with(".npz")) return InspectNpz(path);
  if (stored == FileKind::kNumpy) return InspectNpy(path);
  if (stored == FileKind::kSafetensors) return InspectSafetensors(path);
  if (IsPt(path, stored)) return InspectPt(path);
  if (stored == FileKind::kZip) return InspectZip(path);
  if (IsPicture(path)) return InspectPicture(path);
  if (const Inspect by_name = InspectionByName(path)) return by_name(path);
  if (stored == FileKind::kText && LooksLikeRecipe(path, file.size())) return InspectRecipe(path);
  if (IsStandardInput(path) && (content == FileKind::kText || content == FileKind::kJson)) {
    STOKER_ASSIGN_OR_RETURN(const std::string lines, ReadFirstLines(path));
    if (const Inspect by_lines = InspectionByLines(lines)) return by_lines(path);
  }
  if (IsText(path, content)) return InspectText(path, CompressionOf(stored));
  return InspectOther(path, file, stored, content);
}

}  // namespace

Result<Inspection> InspectFile(const std::string& path, int64_t samples) {
  Result<Inspection> inspection = InspectByContent(path);
  if (inspection.ok() && inspection->damage.ok() && samples > 0)
    AddFirstSamples(path, inspection->json.value("format", ""), samples, *inspection);
  return inspection;
}

}  // namespace stoker
