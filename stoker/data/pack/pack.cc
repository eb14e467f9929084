#include "stoker/data/pack/pack.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/base/trace.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/nodes/cache_store.h"
#include "stoker/data/pack/pack_manifest.h"
#include "stoker/data/pack/pack_target.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/shards.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

Status CheckRequest(const Dataset& dataset, const PackOptions& options) {
  const Cardinality cardinality = dataset.cardinality();
  if (cardinality.infinite()) {
    return InvalidArgument(
        "the pipeline has no end; leave `repeat` out (--stages), or limit it with `take`");
  }
  STOKER_RETURN_IF_ERROR(options.format->check(dataset.spec()));
  if (!options.format->holds_classes) STOKER_RETURN_IF_ERROR(CheckClassNames(options.classes));
  if (options.files == 1) return OkStatus();
  if (!cardinality.known()) {
    return InvalidArgument(
        "how many elements the pipeline has is not known beforehand, so they cannot be divided "
        "among {} files; pack into one",
        options.files);
  }
  if (options.files > cardinality.value()) {
    return InvalidArgument("{} elements cannot be divided among {} files; ask for fewer",
                           cardinality.value(), options.files);
  }
  return OkStatus();
}

uint32_t ChecksumOf(std::span<const Array> arrays) {
  uint32_t checksum = 0;
  for (const Array& array : arrays) {
    checksum = Crc32c(std::as_bytes(std::span(array.shape())), checksum);
    checksum = Crc32c(std::span<const std::byte>(array.data(), array.num_bytes()), checksum);
  }
  return checksum;
}

// The checksum of some elements, and then one more.
uint32_t Joined(uint32_t checksum, uint32_t element) {
  return Crc32c(std::as_bytes(std::span(&element, 1)), checksum);
}

void AppendFilesOf(const Dataset& dataset, std::vector<std::string>& files) {
  for (const Dataset& input : dataset.node().inputs()) AppendFilesOf(input, files);
  std::ranges::move(dataset.node().files(), std::back_inserter(files));
}

// One packing, from the pass that is opened to the last file.
class Packer {
 public:
  Packer(const Dataset& dataset, const PackOptions& options, PackManifest manifest,
         std::vector<std::string> names, std::string class_file)
      : dataset_(dataset),
        options_(options),
        manifest_(std::move(manifest)),
        names_(std::move(names)),
        class_file_(std::move(class_file)) {
    if (dataset.cardinality().known()) progress_.total = dataset.cardinality().value();
    for (const PackManifest::Shard& shard : manifest_.done()) {
      report_.files.push_back({.path = names_[report_.files.size()],
                               .elements = shard.elements,
                               .bytes = shard.bytes,
                               .kept = true});
      progress_.kept += shard.elements;
    }
    progress_.elements = progress_.kept;
    progress_.file = std::ssize(report_.files);
  }

  Result<PackReport> Run(const Runtime& runtime) {
    stop_ = runtime.stop;
    Observe();
    Status status = options_.verify ? VerifyKept() : OkStatus();
    if (status.ok() && report_.files.size() < names_.size()) status = WriteFiles(runtime);
    if (!status.ok()) {
      manifest_.Abandon();
      return status;
    }
    STOKER_RETURN_IF_ERROR(KeepClasses());
    STOKER_RETURN_IF_ERROR(manifest_.Finish());
    return std::move(report_);
  }

 private:
  void Observe() const {
    if (options_.observer) options_.observer(progress_);
  }

  Status WriteFiles(const Runtime& runtime) {
    STOKER_ASSIGN_OR_RETURN(elements_, dataset_.Open(runtime, options_.pass));
    if (!manifest_.state().is_null()) STOKER_RETURN_IF_ERROR(elements_->Restore(manifest_.state()));
    while (report_.files.size() < names_.size()) STOKER_RETURN_IF_ERROR(WriteNextFile());
    return OkStatus();
  }

  // The first element that does not belong to the file under way.
  int64_t EndOfFile() const {
    if (options_.files == 1) return std::numeric_limits<int64_t>::max();
    const auto number = static_cast<int64_t>(report_.files.size());
    const int64_t each = progress_.total / options_.files, more = progress_.total % options_.files;
    return each * (number + 1) + std::min(number + 1, more);
  }

  Status WriteNextFile() {
    PackReport::File file{.path = names_[report_.files.size()]};
    // What is there stays until the new file is whole, read back too where that is asked for. It is
    // this packing's where it was killed before it could note the file, or another's.
    std::error_code ignored;
    const bool may_be_anothers =
        !options_.overwrite && fs::exists(fs::symlink_status(file.path, ignored));
    const bool aside =
        options_.verify || may_be_anothers || StandsInTheWay(file.path, options_.format->directory);
    const std::string made = aside ? internal::TemporaryName(file.path) : file.path;
    Status status = WriteElements(made, file);
    const bool is_made = status.ok();
    if (status.ok() && options_.verify) status = Verify(made, file);
    if (status.ok() && may_be_anothers) status = CheckIsThisOne(file);
    // What cannot be removed is a stale temporary to the next packing.
    if (is_made && !status.ok()) static_cast<void>(RemoveAtomically(made));
    if (status.ok() && aside) status = TakePlace(made, file.path);
    if (!status.ok()) return internal::WithFinalName(status, made, file.path);
    STOKER_ASSIGN_OR_RETURN(file.bytes, BytesOnDisk(file.path));
    STOKER_ASSIGN_OR_RETURN(Json state, elements_->Save());
    STOKER_RETURN_IF_ERROR(manifest_.Add({file.elements, file.bytes, checksum_}, std::move(state)));
    report_.files.push_back(std::move(file));
    ++progress_.file;
    Observe();
    return OkStatus();
  }

  // Writes the elements of `file` to the path `made`.
  Status WriteElements(const std::string& made, PackReport::File& file) {
    checksums_.clear();
    checksum_ = 0;
    STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<PackSink> sink,
                            options_.format->create({.path = made,
                                                     .spec = dataset_.spec(),
                                                     .classes = options_.classes,
                                                     .origin = options_.settings,
                                                     .first = progress_.elements}));
    for (const int64_t end = EndOfFile(); progress_.elements < end;) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements_->Next());
      if (!element && options_.files == 1) break;
      if (!element) return TooFew();
      STOKER_RETURN_IF_ERROR(Append(*sink, element->arrays));
      const uint32_t checksum = ChecksumOf(element->arrays);
      if (options_.verify) checksums_.push_back(checksum);
      checksum_ = Joined(checksum_, checksum);
      ++progress_.elements;
      ++file.elements;
      Observe();
    }
    if (report_.files.size() + 1 == names_.size()) STOKER_RETURN_IF_ERROR(CheckEnd());
    STOKER_RETURN_IF_ERROR(manifest_.EnsureThere());
    const TraceSpan span("finish a file");
    return sink->Commit();
  }

  static Status Append(PackSink& sink, std::span<const Array> arrays) {
    const TraceSpan span("write an element");
    return sink.Append(arrays);
  }

  // Gives `each` the checksum of every element of the file that is at `path` now.
  Status ReadBack(const std::string& path, const std::function<Status(uint32_t)>& each) {
    progress_.verifying = true;
    const TraceSpan span("read back");
    const Status status =
        options_.format->read(path, dataset_.spec(), [&](std::span<const Array> arrays) -> Status {
          if (stop_ != nullptr && *stop_) return Cancelled("{}: verifying was stopped", path);
          STOKER_RETURN_IF_ERROR(each(ChecksumOf(arrays)));
          Observe();
          return OkStatus();
        });
    progress_.verifying = false;
    return status;
  }

  // kDataLoss if the file at its path has other elements than `file` says, with this checksum.
  // After any other error the file may be as it should.
  Status CheckElements(const PackReport::File& file, uint32_t wanted) {
    uint32_t checksum = 0;
    int64_t number = 0;
    const Status status = ReadBack(file.path, [&](uint32_t element) {
      checksum = Joined(checksum, element);
      ++number;
      return OkStatus();
    });
    if (!status.ok()) return IsAboutOneElement(status) ? DataLoss("{}", status.message()) : status;
    if (number == file.elements && checksum == wanted) return OkStatus();
    return DataLoss("{}: other elements are read back than were written", file.path);
  }

  // The files of an interrupted packing: its elements are gone, their checksum is not.
  Status VerifyKept() {
    for (size_t i = 0; i < report_.files.size(); ++i) {
      const Status status = CheckElements(report_.files[i], manifest_.done()[i].checksum);
      if (status.ok()) continue;
      if (status.code() != StatusCode::kDataLoss) return status;
      return DataLoss(
          "{}; an interrupted packing had made this file: check the disk and the memory of this "
          "machine, remove it, and pack again with --overwrite",
          status.message());
    }
    return OkStatus();
  }

  // Whether what has the name of `file`, which is made, may be replaced by it without `overwrite`.
  Status CheckIsThisOne(const PackReport::File& file) {
    const Status status = CheckElements(file, checksum_);
    return status.code() == StatusCode::kDataLoss ? IsAnothers(file.path) : status;
  }

  static Status IsAnothers(const std::string& path) {
    return FailedPrecondition(
        "{}: is there already with other content, which this packing has not made; give "
        "--overwrite to replace it, or another name",
        path);
  }

  // `made`: where the file is until it takes its place.
  Status Verify(const std::string& made, const PackReport::File& file) {
    int64_t number = 0;
    STOKER_RETURN_IF_ERROR(ReadBack(made, [&](uint32_t checksum) -> Status {
      if (number >= file.elements || checksum != checksums_[number]) {
        return DataLoss(
            "{}: element {} is read back with other values than were written; check the disk "
            "and the memory of this machine, and pack again",
            file.path, number);
      }
      ++number;
      return OkStatus();
    }));
    if (number == file.elements) return OkStatus();
    return DataLoss("{}: {} elements are read back, {} were written; check the disk", file.path,
                    number, file.elements);
  }

  // Without `overwrite` nothing may be there but what would be written.
  Status CheckClassesMayGo() const {
    std::error_code ignored;
    if (options_.overwrite || !fs::exists(fs::symlink_status(class_file_, ignored))) {
      return OkStatus();
    }
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> there,
                            ReadClassNamesBeside({names_.front()}));
    return there == options_.classes ? OkStatus() : IsAnothers(class_file_);
  }

  // All files are whole. Names that another packing has left would be wrong.
  Status KeepClasses() const {
    if (class_file_.empty()) return OkStatus();
    STOKER_RETURN_IF_ERROR(CheckClassesMayGo());
    if (!options_.classes.empty()) return WriteClassNames(class_file_, options_.classes);
    const Status status = RemoveAtomically(class_file_);
    return status.code() == StatusCode::kNotFound ? OkStatus() : status;
  }

  Status TooFew() const {
    return FailedPrecondition(
        "the pipeline announces {} elements and has {}; its files have changed, or a stage counts "
        "wrongly: pack into one file",
        progress_.total, progress_.elements);
  }

  // Where the elements were divided by their number, it must have been right.
  Status CheckEnd() const {
    if (options_.files == 1) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements_->Next());
    if (!element) return OkStatus();
    return FailedPrecondition(
        "the pipeline announces {} elements and has more; a stage counts wrongly: pack into one "
        "file",
        progress_.total);
  }

  const Dataset& dataset_;
  const PackOptions& options_;
  PackManifest manifest_;
  const std::vector<std::string> names_;
  const std::string class_file_;  // empty: the names are in the files
  PackProgress progress_;
  PackReport report_;
  std::unique_ptr<Iterator> elements_;
  std::vector<uint32_t> checksums_;  // of the elements of the file under way, to verify it
  uint32_t checksum_ = 0;            // of all of them
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace

int64_t PackReport::elements() const {
  int64_t sum = 0;
  for (const File& file : files) sum += file.elements;
  return sum;
}

uint64_t PackReport::bytes() const {
  uint64_t sum = 0;
  for (const File& file : files) sum += file.bytes;
  return sum;
}

std::vector<std::string> PackedNames(const std::string& destination, const PackFormat& format,
                                     int64_t files) {
  std::string base = destination;
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  if (!format.extension.empty() && base.ends_with(format.extension))
    base.resize(base.size() - format.extension.size());
  if (files == 1) return {base + std::string(format.extension)};
  std::vector<std::string> names;
  for (int64_t file = 0; file < files; ++file)
    names.push_back(ShardName(base, file, files, format.extension));
  return names;
}

std::string PackedClassNames(const std::string& destination, const PackFormat& format) {
  if (format.holds_classes) return "";
  return ClassNamesFileOf(PackedNames(destination, format, 1).front());
}

Result<PackReport> Pack(const Dataset& dataset, const std::string& destination,
                        const PackOptions& options, const Runtime& runtime) {
  const StopScope stopped([stop = runtime.stop] { return stop != nullptr && *stop; });
  STOKER_RETURN_IF_ERROR(
      CheckRequest(dataset, options).While(fmt::format("packing {}", destination)));
  std::vector<std::string> names = PackedNames(destination, *options.format, options.files);
  STOKER_ASSIGN_OR_RETURN(
      const std::string origin,
      internal::OriginOf(dataset,
                         fmt::format("{}; seed {}, epoch {}; classes {}; {}", options.format->name,
                                     options.pass.seed, options.pass.epoch,
                                     fmt::join(options.classes, ", "), options.settings)));
  std::vector<std::string> targets = names;
  std::string class_file = PackedClassNames(destination, *options.format);
  if (!class_file.empty()) targets.push_back(class_file);
  std::vector<std::string> inputs = options.inputs;
  AppendFilesOf(dataset, inputs);
  STOKER_ASSIGN_OR_RETURN(
      PackManifest manifest,
      PackManifest::Begin({.destination = PackedNames(destination, *options.format, 1).front(),
                           .files = std::move(targets),
                           .origin = origin,
                           .options = options.given,
                           .overwrite = options.overwrite,
                           .inputs = std::move(inputs)}));
  return Packer(dataset, options, std::move(manifest), std::move(names), std::move(class_file))
      .Run(runtime);
}

}  // namespace stoker
