#include "stoker/data/transforms/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/value_hash.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/text/word_splitter.h"
#include "stoker/data/transforms/token_field_internal.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

bool IsWord(const Field& field) { return field.dtype == DType::kUInt8 && field.shape.size() == 1; }

struct HashedField {
  size_t field = 0;
  bool word = false;
};

struct HashPlan {
  std::vector<HashedField> fields;
  bool list = false;  // the one field has several numbers, each of which is hashed
  std::string to;
  bool adds = false;  // else the one field is replaced
  uint64_t buckets = 1;
  uint64_t seed = 0;
};

class HashTransform final : public Transform, public NumbersCategories {
 public:
  explicit HashTransform(HashPlan plan) : plan_(std::move(plan)) {}

  bool random() const override { return false; }
  const std::string& numbered_field() const override { return plan_.to; }
  int64_t num_categories() const override { return static_cast<int64_t>(plan_.buckets); }

  bool works_on_columns() const override { return true; }

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    if (plan_.list) {
      Put(NumbersOf(element.arrays[plan_.fields.front().field], scratch), element.arrays);
      return OkStatus();
    }
    Array number = scratch.NewArray(DType::kInt64, {});
    number.values<int64_t>()[0] = NumberOf([&](size_t field) { return element.arrays[field]; });
    Put(std::move(number), element.arrays);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    if (plan_.list) {
      Put(NumbersOf(rows.columns[plan_.fields.front().field], scratch), rows.columns);
      return OkStatus();
    }
    Array numbers = scratch.NewArray(DType::kInt64, {rows.size()});
    for (int64_t i = 0; i < rows.size(); ++i) {
      numbers.values<int64_t>()[static_cast<size_t>(i)] =
          NumberOf([&](size_t field) { return rows.columns[field].Row(i); });
    }
    Put(std::move(numbers), rows.columns);
    return OkStatus();
  }

 private:
  // A number is hashed as the word that it is written as, so that a column has the same numbers
  // whether it was read as text or not.
  static uint64_t HashNumber(int64_t number, uint64_t seed) {
    const fmt::format_int digits(number);
    return HashText({digits.data(), digits.size()}, seed);
  }

  // Those of each value, of one sample's list or of many samples'.
  Array NumbersOf(const Array& lists, Scratch& scratch) const {
    Array numbers = scratch.NewArray(DType::kInt64, lists.shape());
    const std::span<int64_t> values = numbers.values<int64_t>();
    CastValues(lists.dtype(), lists.data(), values.size(), DType::kInt64, numbers.data());
    for (int64_t& value : values)
      value = static_cast<int64_t>(HashNumber(value, plan_.seed) % plan_.buckets);
    return numbers;
  }

  // value(field) is that of one sample.
  template <typename Value>
  int64_t NumberOf(const Value& value) const {
    uint64_t hash = plan_.seed;
    for (const HashedField& hashed : plan_.fields) {
      const Array one = value(hashed.field);
      if (hashed.word) {
        hash = HashText(WordIn(internal::TextOf(one)), hash);
        continue;
      }
      int64_t number = 0;
      CastValues(one.dtype(), one.data(), 1, DType::kInt64, reinterpret_cast<std::byte*>(&number));
      hash = HashNumber(number, hash);
    }
    return static_cast<int64_t>(hash % plan_.buckets);
  }

  void Put(Array numbers, std::vector<Array>& arrays) const {
    if (plan_.adds) {
      arrays.push_back(std::move(numbers));
    } else {
      arrays[plan_.fields.front().field] = std::move(numbers);
    }
  }

  const HashPlan plan_;
};

bool IsListOfNumbers(const Field& field) {
  return field.shape.size() == 1 && field.shape[0] != 1 && !IsFloating(field.dtype) &&
         !IsWord(field);
}

// Checks one field.
//   alone  it is the only one, and so may be a list
Status CheckField(const Field& field, bool alone) {
  if (alone && IsListOfNumbers(field)) return OkStatus();
  const bool byte = field.dtype == DType::kUInt8 && field.shape == Shape{1};
  if (IsWord(field) && !byte) return OkStatus();
  const bool one =
      IsFullyKnown(field.shape) && field.shape.size() < 2 && NumValues(field.shape) == 1;
  if (one && !IsFloating(field.dtype) && !byte) return OkStatus();
  const char* const advice =
      IsFloating(field.dtype) ? ": `bucketize` makes a whole number of a fraction"
      : byte                  ? ": one byte may be either, so `cast` it to int64 if it is a number"
                              : "";
  return InvalidArgument(
      "hash: field '{}' is {}; words and whole numbers, one a sample, are hashed{}", field.name,
      field.ToString(),
      IsListOfNumbers(field) ? ": a list of numbers is hashed alone, not combined with other fields"
                             : advice);
}

}  // namespace

void Hash::Describe(OptionTable<Hash>& table) {
  table.Field("fields", &Hash::fields, "which; of several, each combination gets a number")
      .Required()
      .Field("buckets", &Hash::buckets, "how many numbers there are",
             Between(1, static_cast<double>(kMostCategories)))
      .Field("to", &Hash::to,
             "name of a new field for the number; empty: it replaces the one field")
      .Field("seed", &Hash::seed, "another seed gives other collisions");
}

Result<Dataset> Hash::Build(Dataset input) const {
  if (fields.empty()) return InvalidArgument("hash: fields is empty; name those to hash");
  if (fields.size() > 1 && to.empty()) {
    return InvalidArgument(
        "hash: `to` is missing: it names the field for the number that {} fields become",
        fields.size());
  }
  HashPlan plan{.to = to.empty() ? fields.front() : to,
                .adds = !to.empty(),
                .buckets = static_cast<uint64_t>(buckets),
                .seed = static_cast<uint64_t>(seed)};
  for (const std::string& name : fields) {
    STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "fields", name));
    STOKER_RETURN_IF_ERROR(CheckField(input.spec().fields[index], fields.size() == 1));
    plan.fields.push_back({index, IsWord(input.spec().fields[index])});
  }
  const Field& first = input.spec().fields[plan.fields.front().field];
  plan.list = IsListOfNumbers(first);
  const Shape shape = plan.list ? first.shape : Shape{};
  Spec output = input.spec();
  if (plan.adds) {
    STOKER_RETURN_IF_ERROR(AddField(kName, {to, DType::kInt64, shape}, output));
  } else {
    Field& field = output.fields[plan.fields.front().field];
    field.dtype = DType::kInt64;
    field.shape = shape;
  }
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{} to {}, {} buckets", fmt::join(fields, ", "), plan.to, buckets),
                    std::move(output), std::make_shared<HashTransform>(std::move(plan)));
}

}  // namespace stoker
