// Files of records for random pipelines (random_pipeline.h), in every format that is read record by
// record. Only tests include it.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/arrow.h"
#include "stoker/data/sources/binary.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/hdf5.h"
#include "stoker/data/sources/jsonl.h"
#include "stoker/data/sources/libsvm.h"
#include "stoker/data/sources/lines.h"
#include "stoker/data/sources/lmdb.h"
#include "stoker/data/sources/n5.h"
#include "stoker/data/sources/npy.h"
#include "stoker/data/sources/npz.h"
#include "stoker/data/sources/parquet.h"
#include "stoker/data/sources/recordio.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/sources/zip_archive.h"
#include "stoker/data/testing/random_draws.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/decode_json.h"
#include "stoker/data/transforms/decode_npy.h"
#include "stoker/data/transforms/decode_raw.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/formats/arrow/arrow_testing_internal.h"
#include "stoker/formats/hdf5/hdf5_testing_internal.h"
#include "stoker/formats/lmdb/lmdb_testing_internal.h"
#include "stoker/formats/n5/n5_testing_internal.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/formats/recordio/record_io_testing_internal.h"
#include "stoker/formats/shard/shard_writer.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/formats/zip/zip_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker {

// Written once for all pipelines of a test program, and removed at its end: of each format two
// files of 17 and 12 records, plain and compressed with gzip.
class RandomFiles {
 public:
  static const RandomFiles& Get() {
    static const RandomFiles files;
    return files;
  }

  // Returns the two files of a format. What is compressed has no arrays to map.
  FilePatterns Of(std::string_view extension, bool gzip = false) const {
    return dir_ / fmt::format("{{a,b}}.{}{}", extension, gzip ? ".gz" : "");
  }
  std::string One(std::string_view name) const { return dir_ / name; }
  // Whether there are both.parquet and both.arrow: Stoker was built with Apache Arrow.
  bool has_tables() const { return has_tables_; }

  // A record: sixteen characters, which become the image, and eight digits, the label.
  static constexpr size_t kImageBytes = 16, kRecordBytes = 24;

 private:
  static std::string RecordOf(int number) {
    std::string record;
    for (size_t i = 0; i < kImageBytes; ++i)
      record += static_cast<char>('a' + (static_cast<size_t>(number) * 7 + i * 3) % 26);
    return record + fmt::format("{:08}", number);
  }

  RandomFiles() {
    WriteRecords("a", 0, 17);
    WriteRecords("b", 17, 12);
    WriteArrays(29);
    has_tables_ = WriteTable(TableFormat::kParquet, "both.parquet", 29) &&
                  WriteTable(TableFormat::kArrow, "both.arrow", 29);
  }

  bool WriteTable(TableFormat format, const std::string& name, int count) const {
    std::string images, labels;
    for (int i = 0; i < count; ++i) {
      const std::string record = RecordOf(i);
      const char* const comma = i == 0 ? "" : ", ";
      images += comma + std::string("[[");
      for (size_t p = 0; p < kImageBytes; ++p) {
        if (p % 4 == 0) images += p == 0 ? "[" : "], [";
        images += fmt::format("{}{}", p % 4 == 0 ? "" : ", ", int{record[p]});
      }
      images += "]]]";
      labels += fmt::format("{}{}", comma, i);
    }
    const Status written = WriteTestTable(
        format, dir_ / name,
        {.columns = {{"image", "fixed_size_list<fixed_size_list<fixed_size_list<uint8>[4]>[4]>[1]",
                      "[" + images + "]"},
                     {"label", "int64", "[" + labels + "]"}},
         .group_rows = 5});
    EXPECT_TRUE(written.ok() || written.code() == StatusCode::kUnavailable) << written.ToString();
    return written.ok();
  }

  void WriteRecords(const std::string& name, int first, int count) const {
    std::string lines, rows, objects, sparse, all, framed;
    std::vector<LmdbBuilder::Node> nodes;
    std::vector<std::pair<std::string, std::string>> members;
    for (const bool gzip : {false, true}) {
      const std::string path = dir_ / (name + (gzip ? ".tfrecord.gz" : ".tfrecord"));
      Result<TfRecordWriter> records =
          TfRecordWriter::Create(path, gzip ? Compression::kGzip : Compression::kNone);
      for (int i = first; i < first + count; ++i) STOKER_ASSERT_OK(records->Append(RecordOf(i)));
      STOKER_ASSERT_OK(records->Commit());
    }
    for (int i = first; i < first + count; ++i) {
      const std::string record = RecordOf(i);
      lines += record + "\n";
      for (size_t p = 0; p < kImageBytes; ++p) rows += fmt::format("{},", int{record[p]});
      rows += fmt::format("{}\n", i);
      const std::string_view image(record.data(), kImageBytes);
      objects +=
          fmt::format(R"({{"in": {{"label": {0}, "word": "w{0}"}}, "t": "{1}"}})", i, image) + "\n";
      sparse += fmt::format("{} {}:{} 16:1\n", i, 1 + i % 15, i % 7);
      all += record;
      framed += RecordIoRecord(ImageRecordOf({static_cast<float>(i)}, 0, image));
      nodes.push_back({fmt::format("{:03}", i), record});
      members.emplace_back(fmt::format("{:03}.bin", i), record);
    }
    Write(name + ".txt", lines);
    Write(name + ".csv", rows);
    Write(name + ".tar", TarOf(members));
    Write(name + ".zip", ZipOf(members, /*deflated=*/first > 0));
    Write(name + ".jsonl", objects);
    Write(name + ".svm", sparse);
    Write(name + ".bin", all);
    Write(name + ".rec", framed);
    LmdbBuilder builder;
    const std::string main = builder.Add(nodes);
    Write(name + ".mdb", builder.File(main));
  }

  void WriteArrays(int64_t count) const {
    Array images = Array::Allocate(DType::kUInt8, {count, 1, 4, 4});
    Array labels = Array::Allocate(DType::kInt64, {count});
    for (int64_t i = 0; i < count; ++i) {
      labels.values<int64_t>()[static_cast<size_t>(i)] = i;
      std::memcpy(images.data() + static_cast<size_t>(i) * kImageBytes,
                  RecordOf(static_cast<int>(i)).data(), kImageBytes);
    }
    STOKER_ASSERT_OK(WriteNpy(dir_ / "images.npy", images));
    STOKER_ASSERT_OK(WriteNpy(dir_ / "labels.npy", labels));
    STOKER_ASSERT_OK(WriteNpz(dir_ / "both.npz", {{"image", images}, {"label", labels}}));
    WriteHdf5(dir_ / "both.h5", /*latest=*/false, [&](hid_t file) {
      const auto rows = static_cast<hsize_t>(count);
      AddHdf5Dataset(file, "image", H5T_NATIVE_UINT8, {rows, 1, 4, 4}, images.data(),
                     {.chunk = {5, 1, 2, 3}, .deflate = 1});
      AddHdf5Dataset(file, "label", H5T_NATIVE_INT64, {rows}, labels.data());
    });
    WriteN5("image", {4, 4, 1, static_cast<int>(count)}, "uint8", kImageBytes, images.data());
    std::string numbers;  // big-endian
    for (int64_t i = 0; i < count; ++i) numbers += BigEndian(static_cast<uint64_t>(i), 8);
    WriteN5("label", {static_cast<int>(count)}, "int64", 8, numbers.data());
    STOKER_ASSERT_OK_AND_ASSIGN(ShardWriter shard,
                                ShardWriter::Create(dir_ / "both.stoker",
                                                    {.fields = {{"image", DType::kUInt8, {1, 4, 4}},
                                                                {"label", DType::kInt64, {}}},
                                                     .origin = ""},
                                                    /*page_bytes=*/7 * kRecordBytes));
    for (int64_t i = 0; i < count; ++i)
      STOKER_ASSERT_OK(shard.Append(std::vector{images.Row(i), labels.Row(i)}));
    STOKER_ASSERT_OK(shard.Commit());
  }

  // A dataset of both.n5, in blocks of whole rows.
  void WriteN5(const std::string& name, const std::vector<int>& dimensions, const std::string& type,
               size_t row_bytes, const void* values) const {
    constexpr int kRows = 6;  // of a block
    const std::filesystem::path folder = dir_ / ("both.n5/" + name);
    std::filesystem::path last = folder;
    for (size_t d = 1; d < dimensions.size(); ++d) last /= "0";
    std::filesystem::create_directories(last);
    std::vector<int> block = dimensions;
    block.back() = kRows;
    STOKER_ASSERT_OK(WriteFileAtomically(folder / "attributes.json",
                                         N5AttributesOf(dimensions, block, type, "raw")));
    for (int first = 0; first < dimensions.back(); first += kRows) {
      block.back() = std::min(kRows, dimensions.back() - first);
      const std::string bytes(
          static_cast<const char*>(values) + static_cast<size_t>(first) * row_bytes,
          static_cast<size_t>(block.back()) * row_bytes);
      STOKER_ASSERT_OK(
          WriteFileAtomically(last / std::to_string(first / kRows), N5BlockOf(block, bytes)));
    }
  }

  void Write(const std::string& name, const std::string& bytes) const {
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / name, bytes));
    STOKER_ASSERT_OK(
        WriteFileAtomically(dir_ / (name + ".gz"), *GzipCompress(std::as_bytes(std::span(bytes)))));
  }

  TempDir dir_;
  bool has_tables_ = false;
};

// Image and label of a record that is the one field of an element.
inline Map ImageOfRecord() {
  return {.function =
              [](Element& element, Rng&, Scratch& scratch) {
                const Array record = element.arrays.front();
                Array image = scratch.NewArray(DType::kUInt8, {1, 4, 4});
                std::memcpy(image.data(), record.data(), RandomFiles::kImageBytes);
                Array label = scratch.NewArray(DType::kInt64, {});
                const char* const text = reinterpret_cast<const char*>(record.data());
                std::from_chars(text + RandomFiles::kImageBytes, text + RandomFiles::kRecordBytes,
                                label.values<int64_t>()[0]);
                element.arrays = {std::move(image), std::move(label)};
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {1, 4, 4}}, {"label", DType::kInt64, {}}}},
          .random = false};
}

// The image from a text of as many characters; the label stays.
inline DecodeRaw ImageOfText() { return {.field = "image", .shape = {1, 4, 4}}; }

// The label from the word of it, "w12".
inline Lookup NumberOfWord() {
  std::vector<std::string> words;
  for (int i = 0; i < 29; ++i) words.push_back(fmt::format("w{}", i));
  return {.values = std::move(words)};
}

// The image becomes the bytes of a .npy file that holds it; the label stays.
inline Map NpyOfImage() {
  return {.function =
              [](Element& element, Rng&, Scratch& scratch) {
                Array& image = element.arrays.front();
                STOKER_ASSIGN_OR_RETURN(const std::string header,
                                        NpyHeaderOf(image.dtype(), image.shape(), ""));
                Array bytes = scratch.NewArray(
                    DType::kUInt8, {std::ssize(header) + static_cast<int64_t>(image.num_bytes())});
                std::memcpy(bytes.data(), header.data(), header.size());
                std::memcpy(bytes.data() + header.size(), image.data(), image.num_bytes());
                image = std::move(bytes);
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {kUnknownDim}}, {"label", DType::kInt64, {}}}},
          .random = false};
}

inline DecodeNpy ImageOfNpy() { return {.field = "image", .type = "uint8", .shape = {1, 4, 4}}; }

// Returns a source over some of these files: {image: uint8[1, 4, 4], label: int64[]}. To add a
// format, add a line, and write its files above.
// Over 60 lines: a table of independent rows.
inline const std::vector<std::function<Result<Dataset>(Draws& draws)>>& FileSources() {
  const auto index = [](Draws& draws) -> std::string { return draws.Coin() ? "memory" : "none"; };
  static const std::vector<std::function<Result<Dataset>(Draws & draws)>> sources = {
      [index](Draws& draws) {
        const FilePatterns files = RandomFiles::Get().Of("tfrecord", draws.Coin());
        return Source(Tfrecord{.files = files, .index = index(draws)}) | ImageOfRecord();
      },
      [index](Draws& draws) {
        const CsvFields fields{
            {.name = "image", .type = "uint8", .columns = {"0-15"}, .shape = {1, 4, 4}},
            {.name = "label", .type = "int64", .columns = {"16"}}};
        return Source(Csv{.files = RandomFiles::Get().Of("csv", draws.Coin()),
                          .fields = fields,
                          .header = "no",
                          .index = index(draws)});
      },
      [index](Draws& draws) {
        const FilePatterns files = RandomFiles::Get().Of("tar", draws.Coin());
        return Source(Webdataset{.files = files, .fields = {"bin"}, .index = index(draws)}) |
               ImageOfRecord();
      },
      [](Draws& draws) {
        const RandomFiles& all = RandomFiles::Get();
        if (draws.Coin()) return Source(N5{.path = all.One("both.n5"), .cache = draws.Coin()});
        return Source(ZipArchive{.files = RandomFiles::Get().Of("zip"), .fields = {"bin"}}) |
               ImageOfRecord();
      },
      [](Draws&) {
        return Source(Recordio{
                   .files = RandomFiles::Get().Of("rec"), .whole = true, .index = "memory"}) |
               ImageOfText();
      },
      [](Draws& draws) {
        const RandomFiles& files = RandomFiles::Get();
        if (draws.Coin()) return Source(Stoker{.files = files.One("both.stoker")});
        return Source(Hdf5{.files = files.One("both.h5"), .cache = draws.Coin()});
      },
      [](Draws& draws) {
        const RandomFiles& files = RandomFiles::Get();
        if (draws.Coin() && files.has_tables()) {
          return Source(Parquet{.files = files.One("both.parquet"), .cache = draws.Coin()});
        }
        return Source(Npy{.fields = {{"image", files.One("images.npy")},
                                     {"label", files.One("labels.npy")}}}) |
               NpyOfImage() | ImageOfNpy();
      },
      [](Draws& draws) {
        const RandomFiles& files = RandomFiles::Get();
        if (draws.Coin() && files.has_tables()) {
          return Source(Arrow{.files = files.One("both.arrow"), .cache = draws.Coin()});
        }
        return Source(Npz{.path = files.One("both.npz")}) | NpyOfImage() | ImageOfNpy();
      },
      [index](Draws& draws) {
        if (draws.Coin()) {
          const JsonlFields texts{{.name = "image", .type = "text", .path = "t"},
                                  {.name = "label", .type = "text", .path = "in.word"}};
          return Source(Lines{.path = RandomFiles::Get().One("a.jsonl"), .field = "json"}) |
                 DecodeJson{.fields = texts} | NumberOfWord() | ImageOfText();
        }
        const JsonlFields fields{{.name = "image", .type = "text", .path = "t"},
                                 {.name = "label", .type = "int64", .path = "in.label"}};
        return Source(Jsonl{.files = RandomFiles::Get().Of("jsonl", draws.Coin()),
                            .fields = fields,
                            .index = index(draws)}) |
               ImageOfText();
      },
      [index](Draws& draws) {
        return Source(Libsvm{.files = RandomFiles::Get().Of("svm", draws.Coin()),
                             .features = 16,
                             .label = "int64",
                             .index = index(draws)}) |
               Cast{.field = "x", .dtype = "uint8"};
      },
      [](Draws& draws) {
        return Source(Binary{
            .files = RandomFiles::Get().Of("bin", draws.Coin()),
            .fields = {{.name = "image", .shape = {1, 4, 4}}, {.name = "label", .type = "int64"}}});
      },
      [](Draws&) {
        return Source(Lmdb{.path = RandomFiles::Get().One("a.mdb")}) | ImageOfRecord();
      },
      [](Draws& draws) {
        const std::string name = draws.Coin() ? "a.txt" : "b.txt.gz";
        return Source(Lines{.path = RandomFiles::Get().One(name)}) | ImageOfRecord();
      },
  };
  return sources;
}

}  // namespace stoker
