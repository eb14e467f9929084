#include "stoker/data/sources/snapshot.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/room_in.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/cache_store.h"
#include "stoker/formats/elements/element_file.h"

namespace stoker {
namespace {

Spec SpecOf(const ElementFile& file) {
  Spec spec;
  for (const ElementField& field : file.header().fields)
    spec.fields.push_back({field.name, field.dtype, field.shape});
  return spec;
}

// More than a record takes in addition to the arrays and their alignment, which is less than
// BytesApart counts for them.
constexpr int64_t kRecordStart = 128;

class SnapshotNode final : public ByPositionNode {
 public:
  SnapshotNode(ElementFile file, std::string path)
      : ByPositionNode(Snapshot::kName, SpecOf(file), Cardinality::Of(file.size())),
        file_(std::move(file)),
        path_(std::move(path)) {}

  std::string Details() const override { return path_; }
  std::vector<std::string> files() const override { return {path_}; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    if (count > 1) return spec().BytesTogether(count);
    return file_.shared() ? std::optional<int64_t>(0)
                          : AddSizes(spec().BytesApart(1), kRecordStart);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(ElementLayout::Record record, file_.Read(position, RoomIn(scratch)));
    return Element{.key = {context.epoch(), position}, .arrays = std::move(record.arrays)};
  }

 private:
  const ElementFile file_;
  const std::string path_;
};

}  // namespace

void Snapshot::Describe(OptionTable<Snapshot>& table) {
  table.Field("path", &Snapshot::path, "the file").Required();
}

Result<Dataset> Snapshot::Build() const {
  STOKER_ASSIGN_OR_RETURN(ElementFile file, ElementFile::Open(path.string()));
  return Dataset(std::make_shared<SnapshotNode>(std::move(file), path.string()));
}

Status WriteSnapshot(const Dataset& dataset, const std::string& path, const Runtime& runtime,
                     const PassOptions& pass) {
  if (dataset.cardinality().infinite())
    return InvalidArgument("{}: the pipeline has no end; take repeat out, or limit it with take",
                           path);
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> elements, dataset.Open(runtime, pass));
  STOKER_ASSIGN_OR_RETURN(std::string origin, internal::OriginOf(dataset, "snapshot"));
  STOKER_ASSIGN_OR_RETURN(
      ElementFileWriter writer,
      ElementFileWriter::Create(
          path, {.fields = internal::FieldsOf(dataset.spec()), .origin = std::move(origin)}));
  for (int64_t position = 0;; ++position) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements->Next());
    if (!element) return writer.Commit();
    STOKER_RETURN_IF_ERROR(writer.Add(position, element->key.index, element->arrays));
  }
}

}  // namespace stoker
