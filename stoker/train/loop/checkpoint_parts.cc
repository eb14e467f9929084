#include "stoker/train/loop/checkpoint_parts.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/trace.h"
#include "stoker/cluster/agreement.h"
#include "stoker/io/manifest.h"
#include "stoker/run/checkpoint_probe.h"
#include "stoker/run/retried_write.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWriting = "writing a checkpoint in parts";

// The directory that rank 0 has begun, on every rank; empty where it has begun none.
Result<std::string> DirectoryOfFirst(TrainingSession& session,
                                     const std::optional<AtomicDirectory>& begun) {
  const std::string path = begun ? fs::absolute(begun->path()).string() : "";
  Result<std::string> told = TextOfFirst(*session.setup.group, path, kWriting);
  if (!told.ok()) return NoteAgreed(session, told.status());
  return told;
}

Result<std::optional<AtomicDirectory>> BeginProbe(TrainingSession& session) {
  if (!session.keeps_run()) return std::nullopt;
  const std::string checkpoints = session.setup.run.paths().checkpoints();
  STOKER_RETURN_IF_ERROR(CreateDirectories(checkpoints));
  STOKER_ASSIGN_OR_RETURN(AtomicDirectory probe, AtomicDirectory::Create(checkpoints + "/probe"));
  return std::optional(std::move(probe));
}

// Returns the entry of its file in the manifest.
Result<Json> WriteOwnPart(TrainingSession& session, const std::string& directory) {
  const TraceSpan span("write a part of a checkpoint");
  STOKER_ASSIGN_OR_RETURN(const NamedTensors tensors, session.learner->PartOfState());
  STOKER_ASSIGN_OR_RETURN(const std::vector<NamedArray> arrays, ToNamedArrays(tensors));
  const int64_t ranks = session.setup.group->membership().world;
  const std::string path = fmt::format("{}/{}", directory, PartName(session.rank(), ranks));
  STOKER_RETURN_IF_ERROR(
      WriteWithRetries("a part of the checkpoint", [&] { return WriteSafetensors(path, arrays); }));
  return Manifest::EntryOf(path);
}

Json EntriesOfParts(const std::vector<std::string>& texts) {
  Json entries;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const std::string name = PartName(static_cast<int64_t>(rank), std::ssize(texts));
    entries[name] = Json::parse(texts[rank], nullptr, /*allow_exceptions=*/false);
  }
  return entries;
}

}  // namespace

Status ProbeParts(TrainingSession& session) {
  Group& group = *session.setup.group;
  Result<std::optional<AtomicDirectory>> probe = BeginProbe(session);
  STOKER_RETURN_IF_ERROR(AgreeOn(session, probe.status(), kWriting));
  STOKER_ASSIGN_OR_RETURN(const std::string directory, DirectoryOfFirst(session, *probe));
  STOKER_RETURN_IF_ERROR(AgreeOn(session, WriteProbe(directory, session.rank()), kWriting));
  Result<std::vector<std::string>> hosts = group.GatherTexts(group.membership().host, kWriting);
  if (!hosts.ok()) return NoteAgreed(session, hosts.status());
  return AgreeOn(session, session.keeps_run() ? CheckProbes(directory, *hosts) : OkStatus(),
                 kWriting);
}

Status WriteParts(TrainingSession& session, const Json& state,
                  std::span<const int64_t> kept_beside) {
  const int64_t step = session.progress.step;
  Result<std::optional<AtomicDirectory>> begun = std::optional<AtomicDirectory>();
  if (session.keeps_run()) begun = session.store.BeginParts(step);
  STOKER_RETURN_IF_ERROR(AgreeOn(session, begun.status(), kWriting));
  STOKER_ASSIGN_OR_RETURN(const std::string directory, DirectoryOfFirst(session, *begun));
  if (directory.empty()) return OkStatus();  // there is a whole one
  const Result<Json> own = WriteOwnPart(session, directory);
  STOKER_RETURN_IF_ERROR(AgreeOn(session, own.status(), kWriting));
  const Result<std::vector<std::string>> texts =
      session.setup.group->GatherTexts(own->dump(), kWriting);
  if (!texts.ok()) return NoteAgreed(session, texts.status());
  Status published;
  if (session.keeps_run()) {
    published = session.store.PublishParts(step, **std::move(begun), EntriesOfParts(*texts), state,
                                           kept_beside);
  }
  return AgreeOn(session, published, kWriting);
}

}  // namespace stoker
