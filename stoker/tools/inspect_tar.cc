#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/formats/tar/tar_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

namespace stoker {
namespace {

struct FieldSummary {
  int64_t samples = 0;
  uint64_t smallest = 0, largest = 0;
};

struct Summary {
  int64_t members = 0, samples = 0;
  std::string key;
  std::map<std::string, FieldSummary> fields;

  void Add(const TarMember& member) {
    ++members;
    const std::optional<SampleName> name = SplitSampleName(member.name);
    if (!name) return;
    samples += samples == 0 || name->key != key ? 1 : 0;
    key = name->key;
    FieldSummary& field = fields[std::string(name->extension)];
    field.smallest = field.samples == 0 ? member.size : std::min(field.smallest, member.size);
    field.largest = std::max(field.largest, member.size);
    ++field.samples;
  }
};

// To the end of the data of the last member.
Status Summarize(TarInput& input, Summary& summary) {
  TarReader reader(input);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    if (!member) return OkStatus();
    summary.Add(*member);
  }
}

}  // namespace

Result<Inspection> InspectTar(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  Summary summary;
  Inspection out;
  out.damage = Summarize(*input, summary);
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"field", "samples", "bytes"}};
  for (const auto& [name, field] : summary.fields) {
    fields[name] = {
        {"samples", field.samples}, {"smallest", field.smallest}, {"largest", field.largest}};
    table.push_back({name, std::to_string(field.samples),
                     fmt::format("{} to {}", field.smallest, field.largest)});
  }
  out.json = {{"file", path},
              {"format", "tar"},
              {"members", summary.members},
              {"count", summary.samples},
              {"fields", std::move(fields)}};
  out.text = fmt::format("{}: tar, {} members, {} samples{}\n", path, summary.members,
                         summary.samples, out.damage.ok() ? "; whole" : " up to an error");
  out.text += TableText(table, 2);
  return out;
}

}  // namespace stoker
