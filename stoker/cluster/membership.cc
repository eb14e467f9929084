#include "stoker/cluster/membership.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

constexpr int64_t kMostRanks = 1 << 20;
// Ports that a launcher without one of its own gets: below those that systems give out themselves.
constexpr int64_t kFirstPort = 15000, kPorts = 15000;

// The variables of one launcher; null: it has none for that.
struct Names {
  const char* launcher;
  const char* rank;
  const char* world;
  const char* local_rank;
  const char* local_world;
  bool own_machine = false;  // whether each process is alone on its machine
};

constexpr Names kTorchrun = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kSlurm = {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
                          nullptr};
constexpr Names kOpenMpi = {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kMpich = {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
// A pod knows its index; how many there are its manifest says.
constexpr Names kKubernetes = {"Kubernetes", "JOB_COMPLETION_INDEX", "WORLD_SIZE", nullptr,
                               nullptr,      /*own_machine=*/true};
// Slurm comes last: where mpirun starts its helpers with srun, the ranks inherit the variables of
// the helpers' step.
constexpr std::array kLaunchers = {kTorchrun, kOpenMpi, kMpich, kSlurm};

class Environment {
 public:
  explicit Environment(const EnvironmentVariable& variable) : variable_(variable) {}

  // Null where it is not set, or empty.
  const char* Text(const char* name) const {
    const char* const value = name == nullptr ? nullptr : variable_(name);
    return value == nullptr || *value == '\0' ? nullptr : value;
  }

  // Nothing where it is not set.
  Result<std::optional<int64_t>> Number(const char* name, int64_t least, int64_t most) const {
    const char* const text = Text(name);
    if (text == nullptr) return std::optional<int64_t>();
    const std::string_view digits = text;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc() || end != digits.end() || number < least || number > most) {
      return InvalidArgument(
          "the environment has {}='{}', which is no whole number of {} to {}; correct or unset it",
          name, text, least, most);
    }
    return std::optional(number);
  }

 private:
  const EnvironmentVariable& variable_;
};

// Nothing where the launcher's variables are not set or say that this process is alone.
Result<std::optional<Membership>> FromLauncher(const Names& names, const Environment& environment) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> world,
                          environment.Number(names.world, 1, kMostRanks));
  if (!world || *world == 1) return std::optional<Membership>();
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> rank,
                          environment.Number(names.rank, 0, *world - 1));
  if (!rank) {
    return InvalidArgument("the environment has {}={} and no {}; set it to 0..{}, or unset {}",
                           names.world, *world, names.rank, *world - 1, names.world);
  }
  Membership found{.rank = *rank, .world = *world, .launcher = names.launcher};
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> local_rank,
                          environment.Number(names.local_rank, 0, *world - 1));
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> local_world,
                          environment.Number(names.local_world, 1, *world));
  found.local_rank = local_rank.value_or(names.own_machine ? 0 : *rank);
  found.local_world = local_world.value_or(names.own_machine ? 1 : *world);
  return std::optional(std::move(found));
}

Result<Membership> FindRank(const Environment& environment) {
  const bool by_index =
      environment.Text(kTorchrun.rank) == nullptr && environment.Text(kKubernetes.rank) != nullptr;
  // A step that speaks MPICH's protocol (srun --mpi=pmi2) says all twice, and as Slurm's where its
  // hosts are.
  const char* const of_mpich = environment.Text(kMpich.world);
  const char* const of_slurm = environment.Text(kSlurm.world);
  const bool by_srun =
      of_mpich != nullptr && of_slurm != nullptr && std::string_view(of_mpich) == of_slurm;
  for (const Names& names : kLaunchers) {
    if (by_srun && names.launcher == kMpich.launcher) continue;
    const bool is_pod = by_index && names.launcher == kTorchrun.launcher;
    STOKER_ASSIGN_OR_RETURN(const std::optional<Membership> found,
                            FromLauncher(is_pod ? kKubernetes : names, environment));
    if (found) return *found;
  }
  return Membership();
}

// A port that all processes of one job derive alike, and another job hardly ever: by the hash
// FNV-1a of the job's name.
int64_t PortOf(std::string_view job) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : job) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return kFirstPort + static_cast<int64_t>(hash % static_cast<uint64_t>(kPorts));
}

// The process that has started all of MPICH's ranks on this machine, since its launcher, Hydra,
// names no job. Nothing where it is not among the ancestors.
std::optional<std::string> HydraProxy() {
  constexpr std::string_view kAfterName = ") S ";  // the state of a process, then its parent
  int64_t process = ::getppid();
  while (process > 1) {
    const std::string stat = ReadSmallText(fmt::format("/proc/{}/stat", process));
    if (stat.find("(hydra_pmi_proxy)") != stat.npos) return fmt::format("hydra {}", process);
    const size_t name_end = stat.rfind(')');
    if (name_end == stat.npos || name_end + kAfterName.size() > stat.size()) return std::nullopt;
    const char* const parent = stat.data() + name_end + kAfterName.size();
    if (std::from_chars(parent, stat.data() + stat.size(), process).ec != std::errc()) break;
  }
  return std::nullopt;
}

// Where no variable says it.
Status DerivePlace(const Environment& environment, Membership& found) {
  if (found.launcher == kSlurm.launcher) {
    const char* const hosts = environment.Text("SLURM_STEP_NODELIST") != nullptr
                                  ? environment.Text("SLURM_STEP_NODELIST")
                                  : environment.Text("SLURM_JOB_NODELIST");
    const char* const job = environment.Text("SLURM_JOB_ID");
    const char* const step = environment.Text("SLURM_STEP_ID");
    if (hosts != nullptr && job != nullptr) {
      STOKER_ASSIGN_OR_RETURN(found.host, FirstHost(hosts));
      found.port = PortOf(std::string(job) + "." + (step == nullptr ? "" : step));
      return OkStatus();
    }
  }
  std::optional<std::string> job;
  for (const char* const name : {"PMIX_NAMESPACE", "PMI_JOBID"}) {
    const char* const text = environment.Text(name);
    if (text != nullptr && !job) job = text;
  }
  if (!job && found.launcher == kMpich.launcher) job = HydraProxy();
  if (found.local_world == found.world && job) {
    found.host = "127.0.0.1";
    found.port = PortOf(*job);
    return OkStatus();
  }
  return InvalidArgument(
      "{} has started this as rank {} of {}, and does not say where the ranks find each other; set "
      "MASTER_ADDR to the host of rank 0 and MASTER_PORT to a free port there, for all of them",
      found.launcher, found.rank, found.world);
}

Status FindPlace(const Environment& environment, Membership& found) {
  const char* const address = environment.Text("MASTER_ADDR");
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> port,
                          environment.Number("MASTER_PORT", 1, 65535));
  found.host = address != nullptr ? address : "";
  found.port = port.value_or(0);
  if (!found.host.empty() && found.port != 0) return OkStatus();
  if (found.host.empty() && found.port == 0) return DerivePlace(environment, found);
  return InvalidArgument(
      "rank {} of {} has {} where the ranks find each other, and no {}; set MASTER_ADDR and "
      "MASTER_PORT both, or neither where the launcher is Slurm, or MPI on one machine",
      found.rank, found.world,
      found.host.empty() ? fmt::format("the port {}", found.port)
                         : fmt::format("the host {}", found.host),
      found.host.empty() ? "host" : "port");
}

}  // namespace

Result<Membership> FindMembership(const EnvironmentVariable& variable) {
  const Environment environment(variable);
  STOKER_ASSIGN_OR_RETURN(Membership found, FindRank(environment));
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> restart,
                          environment.Number("TORCHELASTIC_RESTART_COUNT", 0, INT32_MAX));
  found.restart = restart.value_or(0);
  if (found.alone()) return found;
  STOKER_RETURN_IF_ERROR(FindPlace(environment, found));
  const char* const agent = environment.Text("TORCHELASTIC_USE_AGENT_STORE");
  found.agent_has_store = agent != nullptr && std::string_view(agent) == "True";
  STOKER_ASSIGN_OR_RETURN(const std::optional<int64_t> listener,
                          environment.Number("STOKER_LISTENER", 3, INT32_MAX));
  if (listener && found.rank == 0) found.listener = static_cast<int>(*listener);
  return found;
}

Result<Membership> FindMembership() {
  return FindMembership([](const char* name) -> const char* { return ::getenv(name); });
}

Result<std::string> FirstHost(const std::string& hosts) {
  std::string host;
  for (size_t at = 0; at < hosts.size() && hosts[at] != ',';) {
    if (hosts[at] != '[') {
      host += hosts[at++];
      continue;
    }
    const size_t end = hosts.find(']', at);
    if (end == hosts.npos) return InvalidArgument("the list of hosts '{}' lacks a ]", hosts);
    const std::string_view range = std::string_view(hosts).substr(at + 1, end - at - 1);
    host += range.substr(0, range.find_first_of("-,"));
    at = end + 1;
  }
  if (host.empty()) return InvalidArgument("the list of hosts '{}' names none", hosts);
  return host;
}

}  // namespace stoker
