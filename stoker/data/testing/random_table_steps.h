// Steps of random pipelines with operators that tables need. Included by random_pipeline.h only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/data/ops/order.h"
#include "stoker/data/ops/scan.h"
#include "stoker/data/ops/split.h"
#include "stoker/data/ops/take_while.h"
#include "stoker/data/ops/unique.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/random_draws.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/bucketize.h"
#include "stoker/data/transforms/feature_row.h"
#include "stoker/data/transforms/hash.h"
#include "stoker/data/transforms/join.h"
#include "stoker/data/transforms/reshape.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

// One operator. `add` returns `input` if the operator cannot follow it; field 0 stays of dtype
// uint8, field 1 of int64, and there are at most four times as many elements as before.
struct RandomStep {
  std::string_view name;
  std::function<Result<Dataset>(Dataset input, Draws& draws)> add;
};

// Files for `order` over five elements and more.
class RandomOrders {
 public:
  static const RandomOrders& Get() {
    static const RandomOrders orders;
    return orders;
  }
  std::string file(int64_t which) const { return dir_ / (which == 0 ? "repeats" : "some"); }

 private:
  RandomOrders() {
    EXPECT_THAT(WriteFileAtomically(file(0), "4\n0\n0\n2\n3\n2\n1\n0\n"), IsOk());
    EXPECT_THAT(WriteFileAtomically(file(1), "3\n1\n2\n"), IsOk());
  }
  const TempDir dir_;
};

// Returns `steps` and those of this header.
// Over 60 lines: a table of independent rows.
inline std::vector<RandomStep> WithTableSteps(std::vector<RandomStep> steps) {
  using In = Result<Dataset>;
  const std::vector<RandomStep> more = {
      {"split",
       [](In input, Draws& draws) {
         Split split{.seed = draws.Below(9), .side = draws.Coin() ? "train" : "eval"};
         if (draws.Coin()) {
           split.eval = 0.1 * static_cast<double>(1 + draws.Below(9));
         } else {
           split.fold = draws.Coin() ? "2/3" : "1/2";
         }
         const Field& label = input->spec().fields[1];
         if (draws.Coin()) split.by = {label.name};
         if (draws.Coin() && label.shape.empty()) split.stratify = label.name;
         // Of some inputs a side is empty, a class is not trained on, or nothing tells samples
         // apart.
         In side = In(*input) | split;
         return side.ok() ? side : input;
       }},
      {"take_while",
       [](In input, Draws& draws) {
         const int64_t last = draws.Below(60);
         return std::move(input) | TakeWhile{.predicate = [last](const Element& element) {
                  const auto labels = element.arrays[1].values<int64_t>();
                  return labels.empty() || labels[0] % 61 <= last;
                }};
       }},
      {"unique",
       [](In input, Draws& draws) {
         Unique unique;
         if (draws.Coin()) unique.by = {input->spec().fields[1].name};
         In firsts = In(*input) | unique;
         return firsts.ok() ? firsts : input;  // it must know the order
       }},
      {"order",
       [](In input, Draws& draws) {
         const Cardinality n = input->cardinality();
         if (!input->node().random_access() || !n.known() || n.value() < 5) return input;
         return std::move(input) | Order{.file = RandomOrders::Get().file(draws.Below(2))};
       }},
      {"scan",
       [](In input, Draws& draws) {
         const Field& label = input->spec().fields[1];
         if (!label.shape.empty()) return input;
         const std::string to = fmt::format("scan{}", input->spec().fields.size());
         return std::move(input) |
                Scan{.field = label.name, .function = draws.Coin() ? "sum" : "change", .to = to};
       }},
      {"join",
       [](In input, Draws& draws) {
         const Field& label = input->spec().fields[1];
         if (label.shape.size() > 1) return input;
         const std::string to = fmt::format("join{}", input->spec().fields.size());
         return std::move(input) | Join{.fields = {label.name},
                                        .to = to,
                                        .dtype = draws.Coin() ? "float32" : "auto",
                                        .keep = true};
       }},
      {"bucketize",
       [](In input, Draws& draws) {
         Bucketize buckets{.bounds = {0.5, 7, 40}, .field = input->spec().fields[1].name};
         if (draws.Coin()) buckets.nan = 9;
         return std::move(input) | buckets;
       }},
      {"hash",
       [](In input, Draws& draws) {
         const Field& label = input->spec().fields[1];
         if (label.shape.size() > 1) return input;
         const std::string to = fmt::format("hash{}", input->spec().fields.size());
         return std::move(input) |
                Hash{.fields = {label.name}, .buckets = 1 + draws.Below(9), .to = to};
       }},
      {"feature_row",
       [](In input, Draws& draws) {
         const Field& label = input->spec().fields[1];
         if (label.shape.size() > 1) return input;
         const std::string number = fmt::format("number{}", input->spec().fields.size());
         const std::string row = fmt::format("row{}", input->spec().fields.size());
         In copied = In(*input) | Join{.fields = {label.name}, .to = number, .keep = true};
         In made = std::move(copied) |
                   FeatureRow{.features = {{.name = number, .indicator = draws.Coin()}}, .to = row};
         // The lengths of lists differ, and a row of `most` values would have another length than
         // the other fields of what may be a batch.
         return made.ok() ? made : input;
       }},
      {"reshape", [](In input, Draws&) {
         const Field& image = input->spec().fields[0];
         if (!IsFullyKnown(image.shape) || NumValues(image.shape) != 16) return input;
         return std::move(input) | Reshape{.shape = {1, -1, 4}, .field = image.name};
       }}};
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

}  // namespace stoker
