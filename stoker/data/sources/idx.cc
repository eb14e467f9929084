#include "stoker/data/sources/idx.h"

#include <optional>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/array_table_node.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/formats/idx/idx_admit.h"

namespace stoker {
namespace {

constexpr std::string_view kRemedy =
    "pack it into .npy or .stoker files, which are not loaded (`stoker pack`)";

class IdxNode final : public ArrayTableNode {
 public:
  IdxNode(const Idx& files, Spec spec, int64_t elements)
      : ArrayTableNode(std::string(Idx::kName), std::move(spec), Cardinality::Of(elements), {}),
        files_(files) {}

  std::string Details() const override { return files_.images.string(); }
  std::vector<std::string> files() const override {
    std::vector<std::string> paths = {files_.images.string()};
    if (!files_.labels.empty()) paths.push_back(files_.labels.string());
    return paths;
  }
  // Loads the files once; a failure is not remembered, so that the next Open tries again.
  Status Prepare(const OpenContext& context) const override {
    if (!LockUnlessStopped(loading_))
      return Cancelled("{}: asked to stop while another pass loaded it", files_.images.string());
    const MutexLock lock(loading_, std::adopt_lock);
    STOKER_RETURN_IF_ERROR(kept_.ChargeToIfItFits(
        *context.pass(), *this, files_.images.string() + ": its values take", kRemedy));
    if (loaded_) return OkStatus();
    const Status status = Load(*context.pass());
    if (!status.ok()) kept_.Add(-kept_.bytes());
    return status;
  }

  const ArrayTable& table() const override { return *loaded_; }

 private:
  Status Load(const Pass& pass) const {
    std::vector<Array> columns;
    for (const Field& field : spec().fields) {
      const std::string path =
          field.name == "image" ? files_.images.string() : files_.labels.string();
      const auto admit = [&](int64_t bytes) {
        return kept_.AddIfItFits(pass, bytes, path + ": its values take", kRemedy);
      };
      STOKER_ASSIGN_OR_RETURN(const Array array, ReadIdxIfAdmitted(path, kept_.account(), admit));
      Shape shape = ShapeOfRows(cardinality().value(), field.shape);
      if (array.dtype() != field.dtype || array.num_values() != NumValues(shape)) {
        return FailedPrecondition(
            "{}: the file has changed since the pipeline was built; build it again", path);
      }
      columns.push_back(array.Reshaped(std::move(shape)));
    }
    loaded_.emplace(std::move(columns));
    return OkStatus();
  }

  const Idx files_;
  mutable Mutex loading_;  // held while the files are loaded
  mutable KeptMemory kept_;
  // Written under the lock in Prepare, afterwards only read.
  mutable std::optional<ArrayTable> loaded_;
};

// Offset in the header of the number of elements, which follows the magic number.
constexpr int kCountAt = 4;

// What a program on a little-endian machine writes that does not know the format well.
bool IsReversed(int64_t a, int64_t b) {
  return __builtin_bswap32(static_cast<uint32_t>(a)) == static_cast<uint32_t>(b);
}

Result<Field> LabelField(const std::string& path, int64_t images, const std::string& images_path) {
  STOKER_ASSIGN_OR_RETURN(const IdxHeader header, ReadIdxHeader(path));
  if (header.shape.size() != 1) {
    return DataLoss(
        "{}: the file has {} dimensions, labels have one; is this the image file? Name it under "
        "`images:`",
        path, header.shape.size());
  }
  if (IsFloating(header.dtype))
    return DataLoss("{}: the labels are {}, class numbers must be integers", path,
                    DTypeName(header.dtype));
  if (header.shape[0] != images) {
    return DataLoss("{}: byte {}: {} labels announced, but {} (byte {}) announces {} images; {}",
                    path, kCountAt, header.shape[0], images_path, kCountAt, images,
                    IsReversed(header.shape[0], images)
                        ? "the one is the other with its bytes reversed: IDX counts are big-endian"
                        : "the two files do not belong together");
  }
  return Field{"label", header.dtype, {}};
}

}  // namespace

Result<Shape> IdxImageShape(std::string_view who, const Shape& file_shape) {
  switch (file_shape.size()) {
    case 3: return Shape{1, file_shape[1], file_shape[2]};
    case 4: return Shape{file_shape[1], file_shape[2], file_shape[3]};
    case 1:
      return DataLoss(
          "{}: the file has one dimension, images have three or four; is this the label file? Name "
          "it under `labels:`",
          who);
    default:
      return DataLoss(
          "{}: the file has {} dimensions, images have three or four; name a file of images", who,
          file_shape.size());
  }
}

void Idx::Describe(OptionTable<Idx>& table) {
  table
      .Field("images", &Idx::images,
             "file with [n, height, width] or [n, channels, height, width] values")
      .Required()
      .Field("labels", &Idx::labels,
             "file with [n] class numbers; without it the elements have no label");
}

Result<Dataset> Idx::Build() const {
  STOKER_ASSIGN_OR_RETURN(const IdxHeader header, ReadIdxHeader(images.string()));
  STOKER_ASSIGN_OR_RETURN(Shape shape, IdxImageShape(images.string(), header.shape));
  const int64_t elements = header.shape[0];
  Spec spec{{{"image", header.dtype, std::move(shape)}}};
  if (!labels.empty()) {
    STOKER_ASSIGN_OR_RETURN(Field label, LabelField(labels.string(), elements, images.string()));
    spec.fields.push_back(std::move(label));
  }
  return Dataset(std::make_shared<IdxNode>(*this, std::move(spec), elements));
}

}  // namespace stoker
