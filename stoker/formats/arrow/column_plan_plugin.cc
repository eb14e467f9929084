#include "stoker/formats/arrow/column_plan_plugin.h"

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension_type.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace stoker {
namespace {

using arrow::Type;

constexpr int64_t kMostValues = int64_t{1} << 40;  // of one row

// What a type is stored as, whatever an extension calls it.
std::shared_ptr<arrow::DataType> Stored(std::shared_ptr<arrow::DataType> type) {
  while (type->id() == Type::EXTENSION)
    type = static_cast<const arrow::ExtensionType&>(*type).storage_type();
  return type;
}

bool IsText(Type::type id) {
  switch (id) {
    case Type::STRING:
    case Type::BINARY:
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW: return true;
    default: return false;
  }
}

struct Leaf {
  Type::type id;
  DType dtype;
  LeafForm form;
};

constexpr Leaf kLeaves[] = {
    {Type::BOOL, DType::kBool, LeafForm::kBit},
    {Type::INT8, DType::kInt8, LeafForm::kCopy},
    {Type::UINT8, DType::kUInt8, LeafForm::kCopy},
    {Type::INT16, DType::kInt16, LeafForm::kCopy},
    {Type::UINT16, DType::kInt32, LeafForm::kWidenU16},
    {Type::INT32, DType::kInt32, LeafForm::kCopy},
    {Type::UINT32, DType::kInt64, LeafForm::kWidenU32},
    {Type::INT64, DType::kInt64, LeafForm::kCopy},
    {Type::UINT64, DType::kInt64, LeafForm::kWidenU64},
    {Type::HALF_FLOAT, DType::kFloat16, LeafForm::kCopy},
    {Type::FLOAT, DType::kFloat32, LeafForm::kCopy},
    {Type::DOUBLE, DType::kFloat64, LeafForm::kCopy},
    {Type::DATE32, DType::kInt32, LeafForm::kCopy},
    {Type::DATE64, DType::kInt64, LeafForm::kCopy},
    {Type::TIME32, DType::kInt32, LeafForm::kCopy},
    {Type::TIME64, DType::kInt64, LeafForm::kCopy},
    {Type::TIMESTAMP, DType::kInt64, LeafForm::kCopy},
    {Type::DURATION, DType::kInt64, LeafForm::kCopy},
};

std::string_view WhyUnread(Type::type id) {
  switch (id) {
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256: return "decimals are not read; cast them to float64 or int64";
    case Type::NA: return "the column has no values, only nulls";
    case Type::MAP: return "maps are not read; write keys and values as columns of their own";
    case Type::LIST:
    case Type::LARGE_LIST:
      return "lists in lists are read where the inner ones have a fixed size; cast them to "
             "fixed_size_list";
    default: return "there is no array of such values; cast the column to another type";
  }
}

// Fills in what the values are. Returns why they cannot be read, or nothing.
std::string_view PlanValues(const arrow::DataType& type, ColumnPlan& plan) {
  const Type::type id = type.id();
  if (IsText(id)) {
    if (plan.ragged || !plan.lists.empty())
      return "lists of texts are not read; write one text a row";
    plan.ragged = true;
    plan.leaf = LeafForm::kText;
    plan.value_bytes = 1;
    return {};
  }
  if (id == Type::FIXED_SIZE_BINARY) {
    plan.lists.push_back(static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    plan.stored_bytes = plan.value_bytes = 1;
    return {};
  }
  const Leaf* const leaf = std::ranges::find(kLeaves, id, &Leaf::id);
  if (leaf == std::end(kLeaves)) return WhyUnread(id);
  plan.column.dtype = leaf->dtype;
  plan.leaf = leaf->form;
  plan.value_bytes = plan.stored_bytes = DTypeSize(leaf->dtype);
  return {};
}

// The shape that an extension gives to its list of values; empty where it has none.
Shape ShapeOfExtension(const arrow::DataType& type) {
  const auto* tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(&type);
  return tensor == nullptr || !tensor->permutation().empty() ? Shape() : tensor->shape();
}

std::string PlanType(std::shared_ptr<arrow::DataType> type, ColumnPlan& plan) {
  const Shape given = ShapeOfExtension(*type);
  type = Stored(std::move(type));
  if (type->id() == Type::LIST || type->id() == Type::LARGE_LIST) {
    plan.ragged = true;
    type = Stored(static_cast<const arrow::BaseListType&>(*type).value_type());
  }
  while (type->id() == Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    plan.lists.push_back(list.list_size());
    type = Stored(list.value_type());
  }
  if (type->id() == Type::DICTIONARY) {
    plan.dictionary = true;
    type = Stored(static_cast<const arrow::DictionaryType&>(*type).value_type());
    if (type->id() == Type::FIXED_SIZE_BINARY)
      return "dictionaries of bytes of fixed size are not read; cast the column to its values";
  }
  if (const std::string_view why = PlanValues(*type, plan); !why.empty()) return std::string(why);
  if (plan.ragged && plan.values_of_item() == 0) return "its lists are of lists of nothing";
  if (plan.values_of_item() > kMostValues) return "its rows are larger than any memory";
  Shape shape = plan.lists;
  const bool same_size = std::accumulate(given.begin(), given.end(), int64_t{1},
                                         std::multiplies<>()) == plan.values_of_item();
  if (!given.empty() && !plan.ragged && same_size) shape = given;
  if (plan.ragged) shape.insert(shape.begin(), kUnknownDim);
  plan.column.row_shape = std::move(shape);
  return {};
}

// struct{bytes, path}: a file's content, and its name.
bool IsFileStruct(const arrow::DataType& type) {
  if (type.id() != Type::STRUCT || type.num_fields() != 2) return false;
  const auto is = [&](int i, std::string_view name) {
    return type.field(i)->name() == name && IsText(Stored(type.field(i)->type())->id());
  };
  return (is(0, "bytes") && is(1, "path")) || (is(0, "path") && is(1, "bytes"));
}

class Planner {
 public:
  void Add(const arrow::Field& field, bool listed, bool twice) {
    const size_t above = path_.size();
    steps_.push_back(field.name());
    path_ += (path_.empty() ? "" : ".") + field.name();
    const std::shared_ptr<arrow::DataType> type = Stored(field.type());
    if (IsFileStruct(*type)) {
      AddFileStruct(*type, twice);
    } else if (type->id() == Type::STRUCT && type->num_fields() > 0) {
      AddFields(*type, listed, twice);
    } else {
      AddColumn(field, listed, twice);
    }
    steps_.pop_back();
    path_.resize(above);
  }

  std::vector<ColumnPlan> Take() { return std::move(plans_); }

 private:
  void AddFields(const arrow::DataType& type, bool listed, bool twice) {
    for (const std::shared_ptr<arrow::Field>& child : type.fields()) {
      const bool again = std::ranges::count(type.fields(), child->name(), &arrow::Field::name) > 1;
      Add(*child, listed, twice || again);
    }
  }

  ColumnPlan& AddColumn(const arrow::Field& field, bool listed, bool twice) {
    ColumnPlan& plan = plans_.emplace_back();
    plan.steps = steps_;
    plan.listed = listed;
    plan.column.path = path_;
    plan.column.type = field.type()->ToString();
    plan.column.unread = twice ? "there are several of this name" : PlanType(field.type(), plan);
    return plan;
  }

  // The bytes under the name of the struct too.
  void AddFileStruct(const arrow::DataType& type, bool twice) {
    const std::string whole = path_;
    ColumnPlan bytes;
    for (const std::shared_ptr<arrow::Field>& child : type.fields()) {
      Add(*child, /*listed=*/false, twice);
      if (child->name() == "bytes") bytes = plans_.back();
    }
    bytes.listed = true;
    bytes.column.path = whole;
    bytes.column.type = type.ToString();
    bytes.column.names = whole + ".path";
    plans_.push_back(std::move(bytes));
  }

  std::vector<ColumnPlan> plans_;
  std::vector<std::string> steps_;
  std::string path_;
};

}  // namespace

int64_t ColumnPlan::values_of_item() const {
  int64_t values = 1;
  for (const int64_t extent : lists) {
    if (__builtin_mul_overflow(values, extent, &values)) return std::numeric_limits<int64_t>::max();
  }
  return values;
}

std::vector<ColumnPlan> PlanColumns(const arrow::Schema& schema) {
  Planner planner;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields())
    planner.Add(*field, /*listed=*/true, schema.GetAllFieldIndices(field->name()).size() > 1);
  return planner.Take();
}

const ColumnPlan* FindPlan(const std::vector<ColumnPlan>& plans, std::string_view path) {
  const auto found =
      std::ranges::find_if(plans, [&](const ColumnPlan& plan) { return plan.column.path == path; });
  return found == plans.end() ? nullptr : &*found;
}

std::vector<TableColumn> ListedColumns(const std::vector<ColumnPlan>& plans) {
  std::vector<TableColumn> columns;
  for (const ColumnPlan& plan : plans) {
    if (plan.listed) columns.push_back(plan.column);
  }
  return columns;
}

}  // namespace stoker
