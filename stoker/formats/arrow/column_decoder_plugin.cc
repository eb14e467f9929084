#include "stoker/formats/arrow/column_decoder_plugin.h"

#include <arrow/extension_type.h>
#include <arrow/util/bit_util.h>

#include <limits>
#include <utility>

namespace stoker {
namespace {

using arrow::Type;

const arrow::Array& StorageOf(const arrow::Array& array) {
  const arrow::Array* stored = &array;
  while (stored->type_id() == Type::EXTENSION)
    stored = static_cast<const arrow::ExtensionArray&>(*stored).storage().get();
  return *stored;
}

std::shared_ptr<arrow::Array> StorageOf(std::shared_ptr<arrow::Array> array) {
  while (array->type_id() == Type::EXTENSION)
    array = static_cast<const arrow::ExtensionArray&>(*array).storage();
  return array;
}

// Whether a value of `array`, or of a list or dictionary in it, may be null.
bool MayHaveNulls(const arrow::Array& given) {
  const arrow::Array& array = StorageOf(given);
  if (array.null_count() > 0) return true;
  switch (array.type_id()) {
    case Type::LIST: return MayHaveNulls(*static_cast<const arrow::ListArray&>(array).values());
    case Type::LARGE_LIST:
      return MayHaveNulls(*static_cast<const arrow::LargeListArray&>(array).values());
    case Type::FIXED_SIZE_LIST:
      return MayHaveNulls(*static_cast<const arrow::FixedSizeListArray&>(array).values());
    case Type::DICTIONARY:
      return MayHaveNulls(*static_cast<const arrow::DictionaryArray&>(array).dictionary());
    default: return false;
  }
}

arrow::Status CheckRange(int64_t begin, int64_t count, int64_t have) {
  if (begin >= 0 && count >= 0 && begin <= have && count <= have - begin)
    return arrow::Status::OK();
  return arrow::Status::Invalid("values ", begin, " to ", begin + count,
                                " are announced, and there are ", have);
}

struct Range {
  int64_t begin;
  int64_t count;
  const arrow::Array* values;
};

template <typename List>
arrow::Result<Range> RangeIn(const arrow::Array& array, int64_t row) {
  const auto& list = static_cast<const List&>(array);
  const Range range{list.value_offset(row), list.value_length(row), list.values().get()};
  ARROW_RETURN_NOT_OK(CheckRange(range.begin, range.count, range.values->length()));
  return range;
}

// The part of a list's values that is this row.
arrow::Result<Range> RangeOfList(const arrow::Array& array, int64_t row) {
  return array.type_id() == Type::LIST ? RangeIn<arrow::ListArray>(array, row)
                                       : RangeIn<arrow::LargeListArray>(array, row);
}

template <typename Binary>
arrow::Result<std::string_view> TextIn(const arrow::Array& array, int64_t row) {
  const auto& texts = static_cast<const Binary&>(array);
  const int64_t begin = texts.value_offset(row), end = texts.value_offset(row + 1);
  const int64_t have = texts.value_data() == nullptr ? 0 : texts.value_data()->size();
  ARROW_RETURN_NOT_OK(CheckRange(begin, end - begin, have));
  if (begin == end) return std::string_view();
  return std::string_view(reinterpret_cast<const char*>(texts.raw_data()) + begin,
                          static_cast<size_t>(end - begin));
}

arrow::Result<std::string_view> TextOf(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case Type::STRING:
    case Type::BINARY: return TextIn<arrow::BinaryArray>(array, row);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY: return TextIn<arrow::LargeBinaryArray>(array, row);
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW: return static_cast<const arrow::BinaryViewArray&>(array).GetView(row);
    default: return arrow::Status::Invalid("no text where one is announced");
  }
}

// Of an empty text there may be no bytes to point to.
arrow::Status AppendText(arrow::BufferBuilder& to, std::string_view text) {
  if (text.empty()) return arrow::Status::OK();
  return to.Append(text.data(), static_cast<int64_t>(text.size()));
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> FindColumn(const arrow::RecordBatch& batch,
                                                        const ColumnPlan& plan,
                                                        arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::Array> array = batch.GetColumnByName(plan.steps.front());
  for (size_t step = 1; array != nullptr && step < plan.steps.size(); ++step) {
    array = StorageOf(array);
    const auto& above = static_cast<const arrow::StructArray&>(*array);
    const int field = above.struct_type()->GetFieldIndex(plan.steps[step]);
    if (field < 0) return arrow::Status::Invalid("field '", plan.steps[step], "' is missing");
    if (above.null_count() > 0) {
      ARROW_ASSIGN_OR_RAISE(array, above.GetFlattenedField(field, pool));
    } else {
      array = above.field(field);
    }
  }
  if (array == nullptr) return arrow::Status::Invalid("the column is missing");
  return StorageOf(array);
}

ColumnDecoder::ColumnDecoder(const ColumnPlan& plan, const std::optional<std::string>& null_value,
                             std::shared_ptr<LimitedPool> pool)
    : plan_(plan),
      null_value_(null_value),
      pool_(std::move(pool)),
      values_(pool_.get()),
      offsets_(pool_.get()),
      faulty_(pool_.get()) {}

arrow::Status ColumnDecoder::Reserve(int64_t rows, int64_t ragged_bytes) {
  constexpr int64_t kMostRows = int64_t{1} << 48;
  int64_t bytes = ragged_bytes;
  if (rows > kMostRows) return arrow::Status::Invalid(rows, " rows are announced");
  if (!plan_.ragged &&
      __builtin_mul_overflow(rows, static_cast<int64_t>(plan_.item_bytes()), &bytes)) {
    return arrow::Status::Invalid(rows, " rows are announced");
  }
  if (plan_.ragged) {
    ARROW_RETURN_NOT_OK(offsets_.Reserve(rows + 1));
    offsets_.UnsafeAppend(0);
  }
  return values_.Resize(bytes);
}

arrow::Status ColumnDecoder::AppendOrShare(const std::shared_ptr<arrow::Array>& array) {
  if (!plan_.ragged && !plan_.dictionary && plan_.leaf == LeafForm::kCopy &&
      !MayHaveNulls(*array) && ShareFixed(array)) {
    rows_ = array->length();
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(Reserve(array->length(), 0));
  return Append(array);
}

bool ColumnDecoder::ShareFixed(const std::shared_ptr<arrow::Array>& array) {
  const arrow::Array* values = &StorageOf(*array);
  int64_t begin = 0;
  while (values->type_id() == Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListArray&>(*values);
    begin = list.value_offset(begin);
    values = &StorageOf(*list.values());
  }
  const size_t stored_bytes =
      values->type_id() == Type::FIXED_SIZE_BINARY
          ? static_cast<size_t>(
                static_cast<const arrow::FixedSizeBinaryArray&>(*values).byte_width())
          : plan_.stored_bytes;
  const std::shared_ptr<arrow::Buffer>& buffer = values->data()->buffers[1];
  if (buffer == nullptr) return false;
  shared_ = array;
  shared_values_ = reinterpret_cast<const std::byte*>(buffer->data()) +
                   static_cast<size_t>(values->offset() + begin) * stored_bytes;
  return true;
}

arrow::Status ColumnDecoder::Append(const std::shared_ptr<arrow::Array>& given) {
  const arrow::Array& array = StorageOf(*given);
  const bool nulls = MayHaveNulls(array);
  if (!nulls && !plan_.ragged && plan_.leaf != LeafForm::kWidenU64) {
    rows_ += array.length();
    return AppendItems(array, 0, 0, array.length());
  }
  const bool texts = plan_.leaf == LeafForm::kText && !plan_.dictionary;
  if (texts && !nulls) return AppendTexts(array);
  return AppendRows(array);
}

arrow::Status ColumnDecoder::AppendRows(const arrow::Array& array) {
  constexpr int64_t kAskEvery = 1 << 12;
  for (int64_t row = 0; row < array.length(); ++row) {
    if (row % kAskEvery == 0 && pool_->stopped()) return arrow::Status::Cancelled("asked to stop");
    ARROW_RETURN_NOT_OK(AppendRow(array, row));
    ARROW_RETURN_NOT_OK(EndRow());
  }
  return arrow::Status::OK();
}

arrow::Status ColumnDecoder::AppendRow(const arrow::Array& array, int64_t row) {
  if (!plan_.ragged || plan_.leaf == LeafForm::kText) return AppendItems(array, 0, row, 1);
  if (array.IsNull(row)) {  // with a value for nulls a list of none
    if (!null_value_) fault_ = TableFault::kNull;
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const Range range, RangeOfList(array, row));
  return AppendItems(*range.values, 0, range.begin, range.count);
}

arrow::Status ColumnDecoder::EndRow() {
  if (fault_) {
    const FaultyRow faulty{rows_, *fault_};
    ARROW_RETURN_NOT_OK(faulty_.Append(&faulty, sizeof(faulty)));
    fault_.reset();
  }
  ++rows_;
  return plan_.ragged ? offsets_.Append(values_.length() / static_cast<int64_t>(plan_.item_bytes()))
                      : arrow::Status::OK();
}

// Plain texts without nulls: all their bytes at once.
arrow::Status ColumnDecoder::AppendTexts(const arrow::Array& array) {
  for (int64_t row = 0; row < array.length(); ++row) {
    ARROW_ASSIGN_OR_RAISE(const std::string_view text, TextOf(array, row));
    ARROW_RETURN_NOT_OK(AppendText(values_, text));
    ARROW_RETURN_NOT_OK(EndRow());
  }
  return arrow::Status::OK();
}

arrow::Status ColumnDecoder::AppendItems(const arrow::Array& given, size_t level, int64_t begin,
                                         int64_t count) {
  const arrow::Array& array = StorageOf(given);
  if (array.type_id() != Type::FIXED_SIZE_LIST) return AppendValues(array, begin, count);
  const auto& list = static_cast<const arrow::FixedSizeListArray&>(array);
  const int64_t size = plan_.lists[level];
  if (list.null_count() == 0) {
    const int64_t first = list.value_offset(begin);
    ARROW_RETURN_NOT_OK(CheckRange(first, count * size, list.values()->length()));
    return AppendItems(*list.values(), level + 1, first, count * size);
  }
  int64_t values = 1;  // in one list
  for (size_t inner = level; inner < plan_.lists.size(); ++inner) values *= plan_.lists[inner];
  for (int64_t i = begin; i < begin + count; ++i) {
    if (list.IsNull(i)) {
      ARROW_RETURN_NOT_OK(AppendNulls(values));
      continue;
    }
    ARROW_RETURN_NOT_OK(CheckRange(list.value_offset(i), size, list.values()->length()));
    ARROW_RETURN_NOT_OK(AppendItems(*list.values(), level + 1, list.value_offset(i), size));
  }
  return arrow::Status::OK();
}

arrow::Status ColumnDecoder::AppendNulls(int64_t values) {
  if (!null_value_) fault_ = TableFault::kNull;
  if (plan_.leaf == LeafForm::kText) {
    if (!null_value_) return arrow::Status::OK();
    return AppendText(values_, *null_value_);
  }
  if (!null_value_)
    return values_.Append(values * static_cast<int64_t>(plan_.value_bytes), uint8_t{0});
  for (int64_t i = 0; i < values; ++i)
    ARROW_RETURN_NOT_OK(
        values_.Append(null_value_->data(), static_cast<int64_t>(plan_.value_bytes)));
  return arrow::Status::OK();
}

arrow::Status ColumnDecoder::AppendValues(const arrow::Array& array, int64_t begin, int64_t count) {
  ARROW_RETURN_NOT_OK(CheckRange(begin, count, array.length()));
  if (array.null_count() == 0 && !plan_.dictionary) return AppendPlain(array, begin, count);
  const bool bytes = array.type_id() == Type::FIXED_SIZE_BINARY;
  for (int64_t i = begin; i < begin + count; ++i) {
    if (array.IsNull(i)) {
      ARROW_RETURN_NOT_OK(AppendNulls(bytes ? plan_.lists.back() : 1));
      continue;
    }
    if (!plan_.dictionary) {
      ARROW_RETURN_NOT_OK(AppendPlain(array, i, 1));
      continue;
    }
    const auto& words = static_cast<const arrow::DictionaryArray&>(array);
    const arrow::Array& dictionary = StorageOf(*words.dictionary());
    const int64_t word = words.GetValueIndex(i);
    ARROW_RETURN_NOT_OK(CheckRange(word, 1, dictionary.length()));
    ARROW_RETURN_NOT_OK(dictionary.IsNull(word) ? AppendNulls(1)
                                                : AppendPlain(dictionary, word, 1));
  }
  return arrow::Status::OK();
}

template <typename T>
arrow::Status ColumnDecoder::Widen(const arrow::Array& array, int64_t begin, int64_t count) {
  using Wide = std::conditional_t<sizeof(T) == 2, int32_t, int64_t>;
  const T* const values = array.data()->GetValues<T>(1);
  ARROW_RETURN_NOT_OK(values_.Reserve(count * static_cast<int64_t>(sizeof(Wide))));
  for (int64_t i = begin; i < begin + count; ++i) {
    if constexpr (sizeof(T) == 8) {
      if (values[i] > static_cast<T>(std::numeric_limits<int64_t>::max()) && !fault_)
        fault_ = TableFault::kTooLarge;
    }
    const auto wide = static_cast<Wide>(values[i]);
    values_.UnsafeAppend(&wide, sizeof(wide));
  }
  return arrow::Status::OK();
}

// Values of which none is null, in the range of the array.
arrow::Status ColumnDecoder::AppendPlain(const arrow::Array& array, int64_t begin, int64_t count) {
  if (count == 0) return arrow::Status::OK();  // an empty array may have no buffer
  switch (plan_.leaf) {
    case LeafForm::kWidenU16: return Widen<uint16_t>(array, begin, count);
    case LeafForm::kWidenU32: return Widen<uint32_t>(array, begin, count);
    case LeafForm::kWidenU64: return Widen<uint64_t>(array, begin, count);
    case LeafForm::kText: {
      ARROW_ASSIGN_OR_RAISE(const std::string_view text, TextOf(array, begin));
      return AppendText(values_, text);
    }
    case LeafForm::kBit: {
      const auto& bits = static_cast<const arrow::BooleanArray&>(array);
      ARROW_RETURN_NOT_OK(values_.Reserve(count));
      for (int64_t i = begin; i < begin + count; ++i) {
        const auto value = static_cast<uint8_t>(bits.Value(i));
        values_.UnsafeAppend(&value, 1);
      }
      return arrow::Status::OK();
    }
    case LeafForm::kCopy: break;
  }
  int64_t stored_bytes = static_cast<int64_t>(plan_.stored_bytes);
  if (array.type_id() == Type::FIXED_SIZE_BINARY)
    stored_bytes = static_cast<const arrow::FixedSizeBinaryArray&>(array).byte_width();
  if (stored_bytes == 0) return arrow::Status::OK();
  const std::shared_ptr<arrow::Buffer>& buffer = array.data()->buffers[1];
  if (buffer == nullptr) return arrow::Status::Invalid("there are no values");
  return values_.Append(buffer->data() + (array.offset() + begin) * stored_bytes,
                        count * stored_bytes);
}

arrow::Status ColumnDecoder::Finish(DecodedGroup& group) {
  DecodedColumn& column = group.columns.emplace_back();
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> faulty, faulty_.Finish());
  column.faulty = {reinterpret_cast<const FaultyRow*>(faulty->data()),
                   static_cast<size_t>(faulty->size()) / sizeof(FaultyRow)};
  group.owners.push_back(faulty);
  if (shared_ != nullptr) {
    column.values = shared_values_;
    group.owners.push_back(std::move(shared_));
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> values, values_.Finish());
  column.values = reinterpret_cast<const std::byte*>(values->data());
  group.owners.push_back(values);
  if (!plan_.ragged) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> offsets, offsets_.Finish());
  column.offsets = reinterpret_cast<const int64_t*>(offsets->data());
  group.owners.push_back(offsets);
  return arrow::Status::OK();
}

}  // namespace stoker
