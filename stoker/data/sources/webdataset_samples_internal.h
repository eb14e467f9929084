// Members of an archive that make a sample together, by the rules of WebDataset: what sources of
// archives share.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/sources/packed_members_internal.h"

namespace stoker {

// What was found for a field.
struct FoundMember {
  std::string name;  // in the archive
  Array bytes;
  std::string another;  // that is the same field's; an error
};
// For each field of a sample; nothing if its member has not been found.
using FoundMembers = std::vector<std::optional<FoundMember>>;

// Puts the members of a sample in their places. Immutable; thread-safe.
class SampleShape {
 public:
  // `op`: the operator's name, for errors; `texts`: extensions, in the order of the fields,
  // alternatives with bars between; `numbers`: those whose members are whole numbers; `key`: with
  // the name of the sample as last field. Errors: kInvalidArgument for an extension named twice,
  // and a number that is no field.
  static Result<SampleShape> Make(std::string_view op, const std::vector<std::string>& texts,
                                  const std::vector<std::string>& numbers, bool key);
  // The fields of elements that were packed. Errors: kInvalidArgument for fields that would be the
  // same member, or none.
  static Result<SampleShape> OfPacked(std::span<const ElementField> fields, bool key);

  const Spec& spec() const { return spec_; }
  const std::vector<SampleField>& fields() const { return fields_; }

  // The field that a member with this extension is, or nothing. Capitals are small letters, but
  // where both are fields.
  std::optional<size_t> FieldNumber(std::string_view extension) const;

  FoundMembers NoneFound() const { return FoundMembers(fields_.size()); }

  // `where` and `name`, the sample's, begin messages. Errors: kDataLoss for a field that is missing
  // or has two members, no number or array where one is wanted, or an array of another type or
  // shape.
  Result<Element> Finish(FoundMembers found, const std::string& name, SampleKey key,
                         std::string_view where, Scratch& scratch) const;

 private:
  SampleShape(std::vector<SampleField> fields, bool key);
  static Result<SampleShape> Checked(std::string_view op, std::vector<SampleField> fields,
                                     bool key);

  std::vector<SampleField> fields_;
  bool key_;
  Spec spec_;
};

// Puts the bytes of the member `name` in their place, whichever was there first.
void AddFound(std::optional<FoundMember>& place, std::string_view name, Array bytes);

// The members that WebDataset's own reader takes for whole numbers.
inline const std::vector<std::string> kSampleNumbers = {"cls", "id", "index"};

// The `fields` that sources of archives have as an option, `numbers` and `key`.
inline constexpr std::string_view kSampleFieldsHelp =
    "extensions, alternatives with bars between: [jpg|png, cls]; empty: as the first sample has "
    "them";
inline constexpr std::string_view kSampleNumbersHelp =
    "the extensions whose members are whole numbers in ASCII; all others are their bytes";
inline constexpr std::string_view kSampleKeyHelp = "the samples' names too, as field `key`";

// The error where the first archive has no sample to tell the fields by.
Status NoSampleToTellFields(const std::string& path);

// The extensions of the first sample of a tar archive, in their order and in lower case. Errors:
// kDataLoss if there is none, and those of reading.
Result<std::vector<std::string>> FirstSampleExtensions(const std::string& path);

}  // namespace stoker
