#include "stoker/data/transforms/hash.h"

#include <fmt/ranges.h>

#include <memory>
#include <utility>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/value_hash.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/data/transforms/token_field_internal.h"

namespace stoker {
namespace {

bool IsWord(const Field& field) {
  return field.dtype == DType::kUInt8 && field.shape.size() == 1 && !IsFullyKnown(field.shape);
}

struct HashedField {
  size_t field = 0;
  bool word = false;
};

struct HashPlan {
  std::vector<HashedField> fields;
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
    Array number = scratch.NewArray(DType::kInt64, {});
    number.values<int64_t>()[0] = NumberOf([&](size_t field) { return element.arrays[field]; });
    Put(std::move(number), element.arrays);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    Array numbers = scratch.NewArray(DType::kInt64, {rows.size()});
    for (int64_t i = 0; i < rows.size(); ++i) {
      numbers.values<int64_t>()[static_cast<size_t>(i)] =
          NumberOf([&](size_t field) { return rows.columns[field].Row(i); });
    }
    Put(std::move(numbers), rows.columns);
    return OkStatus();
  }

 private:
  // value(field) is that of one sample.
  template <typename Value>
  int64_t NumberOf(const Value& value) const {
    uint64_t hash = plan_.seed;
    for (const HashedField& hashed : plan_.fields) {
      const Array one = value(hashed.field);
      hash = HashValues(hashed.word ? Word(one) : one, hash);
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

  // The word without what surrounds it, sharing its memory.
  static Array Word(const Array& text) {
    const std::string_view all = internal::TextOf(text);
    const std::string_view word = WordIn(all);
    const int64_t begin = word.empty() ? 0 : word.data() - all.data();
    return text.Rows(begin, begin + std::ssize(word));
  }

  const HashPlan plan_;
};

Status CheckField(const Field& field) {
  if (IsWord(field)) return OkStatus();
  const bool one =
      IsFullyKnown(field.shape) && field.shape.size() < 2 && NumValues(field.shape) == 1;
  if (one && !IsFloating(field.dtype)) return OkStatus();
  return InvalidArgument(
      "hash: field '{}' is {}; words and whole numbers, one a sample, are hashed{}", field.name,
      field.ToString(),
      IsFloating(field.dtype) ? ": `bucketize` makes a whole number of a fraction" : "");
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
    STOKER_RETURN_IF_ERROR(CheckField(input.spec().fields[index]));
    plan.fields.push_back({index, IsWord(input.spec().fields[index])});
  }
  Spec output = input.spec();
  if (plan.adds) {
    STOKER_RETURN_IF_ERROR(AddField(kName, {to, DType::kInt64, {}}, output));
  } else {
    Field& field = output.fields[plan.fields.front().field];
    field.dtype = DType::kInt64;
    field.shape = {};
  }
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{} to {}, {} buckets", fmt::join(fields, ", "), plan.to, buckets),
                    std::move(output), std::make_shared<HashTransform>(std::move(plan)));
}

}  // namespace stoker
