// The plug-in libstoker_arrow_testing.so: Arrow's own writers.
#include <arrow/api.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/json/from_string.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "stoker/formats/arrow/arrow_testing_internal.h"

namespace stoker {
namespace {

using Type = std::shared_ptr<arrow::DataType>;

// Reads a type from the front of a text.
class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : text_(text) {}

  Type Parse() {
    const std::string name = Word();
    if (name == "list") return arrow::list(Inner());
    if (name == "large_list") return arrow::large_list(Inner());
    if (name == "dictionary") return arrow::dictionary(arrow::int32(), Inner());
    if (name == "fixed_size_binary") return arrow::fixed_size_binary(Numbers().at(0));
    if (name == "struct") return arrow::struct_(Fields());
    if (name == "tensor") return Tensor();
    if (name == "fixed_size_list") {
      Type inner = Inner();
      return arrow::fixed_size_list(std::move(inner), Numbers().at(0));
    }
    return Plain(name);
  }

 private:
  static Type Plain(const std::string& name) {
    static const std::map<std::string, Type> plain = {
        {"bool", arrow::boolean()},
        {"int8", arrow::int8()},
        {"int16", arrow::int16()},
        {"int32", arrow::int32()},
        {"int64", arrow::int64()},
        {"uint8", arrow::uint8()},
        {"uint16", arrow::uint16()},
        {"uint32", arrow::uint32()},
        {"uint64", arrow::uint64()},
        {"halffloat", arrow::float16()},
        {"float", arrow::float32()},
        {"double", arrow::float64()},
        {"string", arrow::utf8()},
        {"binary", arrow::binary()},
        {"large_string", arrow::large_utf8()},
        {"large_binary", arrow::large_binary()},
        {"string_view", arrow::utf8_view()},
        {"date32", arrow::date32()},
        {"date64", arrow::date64()},
        {"null", arrow::null()},
        {"timestamp", arrow::timestamp(arrow::TimeUnit::MICRO)},
        {"decimal", arrow::decimal128(9, 2)}};
    const auto found = plain.find(name);
    if (found == plain.end()) throw std::invalid_argument("no type '" + name + "'");
    return found->second;
  }

  Type Tensor() {
    const std::vector<int32_t> shape = Numbers();
    return arrow::extension::fixed_shape_tensor(arrow::float32(), {shape.begin(), shape.end()});
  }

  std::string Word() {
    const size_t end = std::min(text_.find_first_of("<>[],: "), text_.size());
    std::string word(text_.substr(0, end));
    text_.remove_prefix(end);
    return word;
  }
  void Expect(char wanted) {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
    if (!text_.starts_with(wanted)) throw std::invalid_argument("no type: " + std::string(text_));
    text_.remove_prefix(1);
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  Type Inner() {
    Expect('<');
    Type inner = Parse();
    Expect('>');
    return inner;
  }
  std::vector<int32_t> Numbers() {
    std::vector<int32_t> numbers;
    Expect('[');
    while (true) {
      numbers.push_back(std::stoi(Word()));
      if (text_.starts_with(']')) break;
      Expect(',');
    }
    Expect(']');
    return numbers;
  }
  arrow::FieldVector Fields() {
    arrow::FieldVector fields;
    Expect('<');
    while (true) {
      std::string name = Word();
      Expect(':');
      fields.push_back(arrow::field(std::move(name), Parse()));
      if (text_.starts_with('>')) break;
      Expect(',');
    }
    Expect('>');
    return fields;
  }

  std::string_view text_;
};

arrow::Result<std::shared_ptr<arrow::Array>> ArrayOf(const Type& type, const std::string& json) {
  if (type->id() == arrow::Type::EXTENSION) {
    const auto& extension = static_cast<const arrow::ExtensionType&>(*type);
    ARROW_ASSIGN_OR_RAISE(const auto storage, ArrayOf(extension.storage_type(), json));
    return arrow::ExtensionType::WrapArray(type, storage);
  }
  if (type->id() == arrow::Type::DICTIONARY) {
    const auto& words = static_cast<const arrow::DictionaryType&>(*type).value_type();
    ARROW_ASSIGN_OR_RAISE(const auto values, ArrayOf(words, json));
    // A dictionary itself has no nulls.
    std::string whole = json;
    for (size_t at = 0; (at = whole.find("null", at)) != whole.npos;) whole.replace(at, 4, R"("")");
    ARROW_ASSIGN_OR_RAISE(const auto dictionary, ArrayOf(words, whole));
    // As many words as values: none is looked up, which is as good for reading.
    arrow::Int32Builder indices;
    for (int64_t i = 0; i < values->length(); ++i)
      ARROW_RETURN_NOT_OK(values->IsNull(i) ? indices.AppendNull()
                                            : indices.Append(static_cast<int32_t>(i)));
    ARROW_ASSIGN_OR_RAISE(const auto numbers, indices.Finish());
    return arrow::DictionaryArray::FromArrays(type, numbers, dictionary);
  }
  return arrow::json::ArrayFromJSONString(type, json);
}

arrow::Result<std::shared_ptr<arrow::Table>> TableOf(const TestTable& table) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const TestColumn& column : table.columns) {
    const Type type = TypeParser(column.type).Parse();
    ARROW_ASSIGN_OR_RAISE(auto array, ArrayOf(type, column.json));
    fields.push_back(arrow::field(column.name, type));
    arrays.push_back(std::move(array));
  }
  return arrow::Table::Make(arrow::schema(std::move(fields)), std::move(arrays));
}

arrow::Compression::type CompressionOf(const std::string& name, bool parquet) {
  if (name == "none") return arrow::Compression::UNCOMPRESSED;
  if (name == "lz4") return parquet ? arrow::Compression::LZ4 : arrow::Compression::LZ4_FRAME;
  return arrow::util::Codec::GetCompressionType(name).ValueOrDie();
}

arrow::Status WriteParquet(const arrow::Table& table, const TestTable& options,
                           const std::shared_ptr<arrow::io::OutputStream>& file) {
  parquet::WriterProperties::Builder builder;
  builder.compression(CompressionOf(options.compression, /*parquet=*/true));
  if (options.checksums) builder.enable_page_checksum();
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  return parquet::arrow::WriteTable(table, arrow::default_memory_pool(), file, options.group_rows,
                                    builder.build(), arrow_properties);
}

arrow::Status WriteArrow(const arrow::Table& table, const TestTable& options,
                         const std::shared_ptr<arrow::io::OutputStream>& file) {
  auto write = arrow::ipc::IpcWriteOptions::Defaults();
  if (options.compression != "none") {
    ARROW_ASSIGN_OR_RAISE(write.codec, arrow::util::Codec::Create(
                                           CompressionOf(options.compression, /*parquet=*/false)));
  }
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        options.stream ? arrow::ipc::MakeStreamWriter(file, table.schema(), write)
                                       : arrow::ipc::MakeFileWriter(file, table.schema(), write));
  ARROW_RETURN_NOT_OK(writer->WriteTable(table, options.group_rows));
  return writer->Close();
}

arrow::Status Write(TableFormat format, const std::string& path, const TestTable& table) {
  ARROW_ASSIGN_OR_RAISE(const auto whole, TableOf(table));
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::FileOutputStream::Open(path));
  ARROW_RETURN_NOT_OK(format == TableFormat::kParquet ? WriteParquet(*whole, table, file)
                                                      : WriteArrow(*whole, table, file));
  return file->Close();
}

}  // namespace
}  // namespace stoker

extern "C" {

__attribute__((visibility("default"))) const char* StokerArrowTestingTag() {
  return stoker::kArrowTestingTag;
}

__attribute__((visibility("default"))) void StokerWriteTestTable(stoker::TableFormat format,
                                                                 const std::string& path,
                                                                 const stoker::TestTable& table,
                                                                 stoker::Status* out) {
  try {
    const arrow::Status written = stoker::Write(format, path, table);
    *out = written.ok() ? stoker::OkStatus()
                        : stoker::InvalidArgument("{}: {}", path, written.message());
  } catch (const std::exception& error) {
    *out = stoker::InvalidArgument("{}: {}", path, error.what());
  }
}

// For tests in Python: writes Parquet (0), an Arrow file (1) or stream (2) of `columns`, each a
// line "name|type|values as JSON". Returns 0, or 1 with what is wrong on standard error.
__attribute__((visibility("default"))) int StokerWriteTestFile(int kind, const char* path,
                                                               const char* columns,
                                                               int64_t group_rows,
                                                               const char* compression) {
  stoker::TestTable table{
      .group_rows = group_rows, .compression = compression, .checksums = true, .stream = kind == 2};
  std::istringstream lines(columns);
  std::string name, type, json;
  while (std::getline(lines, name, '|') && std::getline(lines, type, '|') &&
         std::getline(lines, json))
    table.columns.push_back({name, type, json});
  stoker::Status written;
  const auto format = kind == 0 ? stoker::TableFormat::kParquet : stoker::TableFormat::kArrow;
  StokerWriteTestTable(format, path, table, &written);
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.message().c_str());
  return written.ok() ? 0 : 1;
}
}
