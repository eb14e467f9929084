// Groups members of an archive to samples, by the rules of WebDataset; shared by sources of
// archives.
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
#include "stoker/data/nodes/packed_members.h"

namespace stoker {

// The member found for a field.
struct FoundMember {
  std::string name;  // in the archive
  Array bytes;
  std::string another;  // another member for the same field; an error
};
// For each field of a sample; nothing if its member has not been found.
using FoundMembers = std::vector<std::optional<FoundMember>>;

// Assigns the members of a sample to fields. Immutable; thread-safe.
class SampleShape {
 public:
  // `op`: the operator's name, for errors; `texts`: extensions, in the order of the fields,
  // alternatives separated by bars; `numbers`: those whose members are whole numbers; `key`: adds
  // the name of the sample as last field. Errors: kInvalidArgument for an extension named twice,
  // and for a number that is not a field.
  static Result<SampleShape> Make(std::string_view op, const std::vector<std::string>& texts,
                                  const std::vector<std::string>& numbers, bool key);
  // Returns the shape of packed elements. Errors: kInvalidArgument for fields that would have the
  // same member, or none.
  static Result<SampleShape> OfPacked(std::span<const ElementField> fields, bool key);

  const Spec& spec() const { return spec_; }
  const std::vector<SampleField>& fields() const { return fields_; }

  // Returns the field of a member with this extension, or nothing. Ignores case, unless both
  // spellings are fields.
  std::optional<size_t> FieldNumber(std::string_view extension) const;

  FoundMembers NoneFound() const { return FoundMembers(fields_.size()); }

  // Makes the element. `where` and `name`, the sample's, begin messages. Errors: kDataLoss for a
  // field that is missing or has two members, for a malformed number or array, or an array of
  // another type or shape.
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

// Adds the bytes of the member `name` to its place, also if there is one already.
void AddFound(std::optional<FoundMember>& place, std::string_view name, Array bytes);

// The members that WebDataset's own reader decodes as whole numbers.
inline const std::vector<std::string> kSampleNumbers = {"cls", "id", "index"};

// The `fields` that sources of archives have as an option, `numbers` and `key`.
inline constexpr std::string_view kSampleFieldsHelp =
    "extensions, alternatives with bars between: [jpg|png, cls]; empty: as the first sample has "
    "them";
inline constexpr std::string_view kSampleNumbersHelp =
    "the extensions whose members are whole numbers in ASCII; all others are their bytes";
inline constexpr std::string_view kSampleKeyHelp = "the samples' names too, as field `key`";

// Returns the error for a first archive without a sample, which would determine the fields.
Status NoSampleToTellFields(const std::string& path);

// Returns the extensions of the first sample of a tar archive, in order and in lower case. Errors:
// kDataLoss if there is none, and those of reading.
Result<std::vector<std::string>> FirstSampleExtensions(const std::string& path);

}  // namespace stoker
