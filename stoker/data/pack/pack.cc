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
#include "stoker/data/core/iterator.h"
#include "stoker/data/nodes/cache_store.h"
#include "stoker/data/pack/pack_checksum_internal.h"
#include "stoker/data/pack/pack_manifest.h"
#include "stoker/data/pack/pack_share_internal.h"
#include "stoker/data/pack/pack_target.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/shards.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

void AppendFilesOf(const Dataset& dataset, std::vector<std::string>& files) {
  for (const Dataset& input : dataset.node().inputs()) AppendFilesOf(input, files);
  std::ranges::move(dataset.node().files(), std::back_inserter(files));
}

// One packing, from the pass that is opened to the last file.
class Packer {
 public:
  //   dataset  the elements of the share alone
  Packer(Dataset dataset, const internal::PackShare& share, const PackOptions& options,
         PackManifest manifest, std::vector<std::string> names, std::string class_file)
      : dataset_(std::move(dataset)),
        share_(share),
        options_(options),
        manifest_(std::move(manifest)),
        names_(std::move(names)),
        class_file_(std::move(class_file)) {
    if (dataset_.cardinality().known()) progress_.total = dataset_.cardinality().value();
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

  // The first element of the share that does not belong to the file under way.
  int64_t EndOfFile() const {
    if (options_.files == 1) return std::numeric_limits<int64_t>::max();
    const int64_t number = share_.files.first + std::ssize(report_.files);
    return ElementsOfFile(number, options_.files, share_.all_elements).last - share_.elements.first;
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
    STOKER_ASSIGN_OR_RETURN(
        const std::unique_ptr<PackSink> sink,
        options_.format->create({.path = made,
                                 .spec = dataset_.spec(),
                                 .classes = options_.classes,
                                 .origin = options_.settings,
                                 .first = share_.elements.first + progress_.elements}));
    for (const int64_t end = EndOfFile(); progress_.elements < end;) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements_->Next());
      if (!element && options_.files == 1) break;
      if (!element) return TooFew();
      STOKER_RETURN_IF_ERROR(Append(*sink, element->arrays));
      const uint32_t checksum = internal::ElementChecksum(element->arrays);
      if (options_.verify) checksums_.push_back(checksum);
      checksum_ = internal::JoinedChecksum(checksum_, checksum);
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

  Status GoOnReading(const std::string& path) const {
    if (stop_ != nullptr && *stop_) return Cancelled("{}: verifying was stopped", path);
    Observe();
    return OkStatus();
  }

  // Gives `each` the checksum of every element of the file that is at `path` now.
  Status ReadBack(const std::string& path, const std::function<Status(uint32_t)>& each) {
    progress_.verifying = true;
    const TraceSpan span("read back");
    const Status status =
        options_.format->read(path, dataset_.spec(), [&](std::span<const Array> arrays) -> Status {
          STOKER_RETURN_IF_ERROR(each(internal::ElementChecksum(arrays)));
          return GoOnReading(path);
        });
    progress_.verifying = false;
    return status;
  }

  // kDataLoss if the file at its path has other elements than `file` says, with this checksum.
  // After any other error the file may be as it should.
  Status CheckElements(const PackReport::File& file, uint32_t wanted) {
    progress_.verifying = true;
    const TraceSpan span("read back");
    const Status status =
        internal::CheckPackedFile(*options_.format, file.path, dataset_.spec(), file.elements,
                                  wanted, [&] { return GoOnReading(file.path); });
    progress_.verifying = false;
    return status;
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
        share_.all_elements, share_.elements.first + progress_.elements);
  }

  // Where the elements were divided by their number, it must have been right.
  Status CheckEnd() const {
    if (options_.files == 1) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements_->Next());
    if (!element) return OkStatus();
    return FailedPrecondition(
        "the pipeline announces {} elements and has more; a stage counts wrongly: pack into one "
        "file",
        share_.all_elements);
  }

  const Dataset dataset_;
  const internal::PackShare share_;
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

// What the bytes of all files depend on.
Result<std::string> PackOriginOf(const Dataset& dataset, const PackOptions& options) {
  return internal::OriginOf(
      dataset,
      fmt::format("{}; seed {}, epoch {}; classes {}; {}", options.format->name, options.pass.seed,
                  options.pass.epoch, fmt::join(options.classes, ", "), options.settings));
}

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
      internal::CheckPackRequest(dataset, options).While(fmt::format("packing {}", destination)));
  const internal::PackShare share = internal::PackShareOf(dataset, options);
  std::vector<std::string> names = PackedNames(destination, *options.format, options.files);
  STOKER_ASSIGN_OR_RETURN(const std::string origin, PackOriginOf(dataset, options));
  std::vector<std::string> targets = names;
  std::string class_file = PackedClassNames(destination, *options.format);
  if (!class_file.empty()) targets.push_back(class_file);
  std::vector<std::string> inputs = options.inputs;
  AppendFilesOf(dataset, inputs);
  PackManifest::Request request{.destination = PackedNames(destination, *options.format, 1).front(),
                                .files = {},
                                .origin = origin,
                                .options = options.given,
                                .overwrite = options.overwrite,
                                .inputs = std::move(inputs)};
  if (options.part) {
    names = {names.begin() + share.files.first, names.begin() + share.files.last};
    request.part = {.part = *options.part,
                    .set = std::exchange(targets, names),
                    .shards = options.files,
                    .schema = RecordSchemaToText(PackedFile{.path = {},
                                                            .spec = dataset.spec(),
                                                            .classes = options.classes,
                                                            .origin = options.settings}
                                                     .schema())};
    class_file.clear();  // the merge's
  }
  request.files = std::move(targets);
  STOKER_ASSIGN_OR_RETURN(PackManifest manifest, PackManifest::Begin(std::move(request)));
  STOKER_ASSIGN_OR_RETURN(Dataset elements, internal::ElementsOfShare(dataset, options, share));
  return Packer(std::move(elements), share, options, std::move(manifest), std::move(names),
                std::move(class_file))
      .Run(runtime);
}

}  // namespace stoker
