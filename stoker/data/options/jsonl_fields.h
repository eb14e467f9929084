// The options of jsonl and decode_json for the members of objects, and their mapping to fields of
// elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/spec.h"
#include "stoker/data/options/field_map.h"
#include "stoker/formats/jsonl/json_row_parser.h"

namespace stoker {

// One field. In a recipe `age: int64`, or `box: {path: a.box, shape: [4]}`.
struct JsonlField {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string type = "float32";
  std::string path;                        // none: the member called as the field
  std::vector<int64_t> shape;              // none: one value
  std::vector<std::string> default_value;  // for missing or null members; none: an error

  static void Describe(OptionTable<JsonlField>& table);
};

using JsonlFields = FieldMap<JsonlField>;

// Returns a field for each of these members, named like its path.
JsonlFields FieldsOf(const std::vector<JsonMember>& members);

struct JsonlPlan {
  Spec spec;
  std::vector<JsonMember> members;
};
// `op` begins messages. Errors: kInvalidArgument for options that do not go together.
Result<JsonlPlan> PlanJsonlFields(std::string_view op, const JsonlFields& fields);

}  // namespace stoker
