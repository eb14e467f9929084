// Writes files with the writers that no command of `stoker` reaches, for interop_writers_test.py:
// the arrays and texts are those of other software, in arrays.npz and texts, where the program
// runs.
#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/formats/csv/row_writer.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/formats/tar/tar_writer.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/formats/zip/zip_writer.h"
#include "stoker/io/file.h"

using namespace stoker;

namespace {

// More than a directory without the fields of 64 bits can count.
constexpr int kManyEntries = 70'000;

Status WriteArrays() {
  STOKER_ASSIGN_OR_RETURN(const NamedArrays arrays, ReadNpz("arrays.npz"));
  STOKER_RETURN_IF_ERROR(WriteNpz("ours.npz", arrays));
  for (const auto& [name, array] : arrays) {
    STOKER_RETURN_IF_ERROR(WriteNpy(name + ".npy", array));
    if (!WriteIdx(name + ".idx", array).ok()) continue;  // IDX lacks its type
    STOKER_RETURN_IF_ERROR(WriteIdx(name + ".idx.gz", array, IdxCompression::kGzip));
  }
  return OkStatus();
}

// Rows of a text, its number as an integer, and thirds of it in both precisions.
Status WriteTable(const std::string& path, std::span<const std::string_view> texts,
                  const CsvDialect& dialect, Compression compression) {
  STOKER_ASSIGN_OR_RETURN(CsvRowWriter writer, CsvRowWriter::Create(path, dialect, compression));
  int64_t number = 0;
  for (const std::string_view text : texts) {
    writer.AddText(text);
    writer.AddNumber(number);
    writer.AddNumber(static_cast<float>(number) / 3);
    writer.AddNumber(static_cast<double>(number) / 3);
    STOKER_RETURN_IF_ERROR(writer.EndRow());
    ++number;
  }
  return writer.Commit();
}

Status WriteRecords(const std::string& path, std::span<const std::string_view> texts,
                    Compression compression) {
  STOKER_ASSIGN_OR_RETURN(TfRecordWriter writer, TfRecordWriter::Create(path, compression));
  for (const std::string_view text : texts) STOKER_RETURN_IF_ERROR(writer.Append(text));
  return writer.Commit();
}

// Every other member's name is too long for a header.
std::string MemberName(size_t i) {
  return fmt::format("{}\u00e9{}.txt", i % 2 == 0 ? "folder/" : std::string(i * 9, 'x'), i);
}

Status WriteTar(const std::string& path, std::span<const std::string_view> texts,
                Compression compression) {
  STOKER_ASSIGN_OR_RETURN(TarWriter writer, TarWriter::Create(path, compression));
  for (size_t i = 0; i < texts.size(); ++i)
    STOKER_RETURN_IF_ERROR(writer.Append(MemberName(i), texts[i]));
  return writer.Commit();
}

Status WriteZips(std::span<const std::string_view> texts) {
  STOKER_ASSIGN_OR_RETURN(ZipWriter writer, ZipWriter::Create("ours.zip"));
  uint64_t alignment = 1;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto content = std::as_bytes(std::span(texts[i]));
    STOKER_RETURN_IF_ERROR(writer.Add(MemberName(i), content, alignment));
    alignment = alignment == 4096 ? 1 : 2 * alignment;
  }
  STOKER_RETURN_IF_ERROR(writer.Finish());
  STOKER_ASSIGN_OR_RETURN(ZipWriter many, ZipWriter::Create("many.zip"));
  for (int i = 0; i < kManyEntries; ++i) STOKER_RETURN_IF_ERROR(many.Add(std::to_string(i), {}));
  return many.Finish();
}

Status WriteAll() {
  STOKER_RETURN_IF_ERROR(WriteArrays());
  STOKER_ASSIGN_OR_RETURN(const Buffer file, ReadWholeFile("texts"));  // each ends with a zero byte
  const std::string_view all(reinterpret_cast<const char*>(file.data()), file.size());
  std::vector<std::string_view> texts;
  for (size_t at = 0, end; (end = all.find('\0', at)) != all.npos; at = end + 1)
    texts.push_back(all.substr(at, end - at));
  STOKER_RETURN_IF_ERROR(WriteTable("ours.csv", texts, {}, Compression::kNone));
  STOKER_RETURN_IF_ERROR(WriteTable("ours.csv.gz", texts, {}, Compression::kGzip));
  STOKER_RETURN_IF_ERROR(WriteTable("ours.tsv", texts, {.delimiter = '\t'}, Compression::kNone));
  STOKER_RETURN_IF_ERROR(WriteRecords("ours-gzip.tfrecord", texts, Compression::kGzip));
  STOKER_RETURN_IF_ERROR(WriteRecords("ours-zlib.tfrecord", texts, Compression::kZlib));
  STOKER_RETURN_IF_ERROR(WriteTar("ours.tar", texts, Compression::kNone));
  STOKER_RETURN_IF_ERROR(WriteTar("ours.tar.gz", texts, Compression::kGzip));
  return WriteZips(texts);
}

}  // namespace

int main() {
  const Status status = WriteAll();
  if (!status.ok()) fmt::print(stderr, "error: {}\n", status.message());
  return status.ok() ? 0 : 1;
}
