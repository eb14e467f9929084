// Two servers on loopback that behave like WebHDFS: a name node, which sends readers to a data
// node.
#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker {

inline LoopbackAnswer Exception(int status, const std::string& name, const std::string& message) {
  return {.status = status,
          .body = Json{{"RemoteException",
                        {{"exception", name},
                         {"javaClassName", "org.apache.hadoop." + name},
                         {"message", message}}}}
                      .dump()};
}

// A file system of few files. A name that ends with a slash is a folder.
class Cluster {
 public:
  Cluster()
      : data_node_([this](const LoopbackRequest& request, int number) {
          return DataAnswer(request, number);
        }),
        name_node_([this](const LoopbackRequest& request, int number) {
          const MutexLock lock(mutex_);
          asked_.push_back(request.target);
          if (fault) {
            if (const std::optional<LoopbackAnswer> answer = fault(request, number)) return *answer;
          }
          return NameAnswer(request);
        }) {}

  void Put(const std::string& name, std::string content, int64_t changed = 1) {
    const MutexLock lock(mutex_);
    const int64_t number = 16386 + static_cast<int64_t>(writes_++);
    files_[name] = {std::move(content), changed, number};
  }
  std::string path(const std::string& name) const {
    return "webhdfs" + name_node_.root().substr(4) + "/" + name;
  }
  std::vector<std::string> asked() const {
    const MutexLock lock(mutex_);
    return asked_;
  }
  const LoopbackServer& data_node() const { return data_node_; }
  const LoopbackServer& name_node() const { return name_node_; }

  // Set before the first request. Each may answer in the server's place; `fault` with the lock
  // held.
  std::function<std::optional<LoopbackAnswer>(const LoopbackRequest&, int)> fault, data_fault;
  bool batches = true;
  size_t page_size = 2;

 private:
  struct Stored {
    std::string content;
    int64_t changed, number;
  };

  Json StatusOf(const std::string& name, const std::string& suffix) const STOKER_REQUIRES(mutex_) {
    const auto found = files_.find(name);
    const bool file = found != files_.end();
    return {{"pathSuffix", suffix},
            {"type", file ? "FILE" : "DIRECTORY"},
            {"length", file ? found->second.content.size() : 0},
            {"modificationTime", file ? found->second.changed : 7},
            {"fileId", file ? found->second.number : 1}};
  }

  LoopbackAnswer NameAnswer(const LoopbackRequest& request) const STOKER_REQUIRES(mutex_) {
    const std::string before = "/webhdfs/v1/", op = ParameterOf(request.target, "op");
    std::string name = request.target.substr(before.size());
    name = name.substr(0, name.find('?'));
    const bool file = files_.contains(name);
    const auto below = files_.lower_bound(name + "/");
    const bool folder =
        name.empty() || (below != files_.end() && below->first.starts_with(name + "/"));
    if (!file && !folder)
      return Exception(404, "FileNotFoundException", "File does not exist: /" + name);
    if (op == "GETFILESTATUS") return {.body = Json{{"FileStatus", StatusOf(name, "")}}.dump()};
    if (op == "OPEN") {
      return {.status = 307,
              .headers = {"Location: " + data_node_.root() + request.target +
                          "&namenoderpcaddress=n:1"}};
    }
    if (op == "LISTSTATUS" || (op == "LISTSTATUS_BATCH" && batches))
      return List(name, op, ParameterOf(request.target, "startAfter"));
    return Exception(400, "IllegalArgumentException",
                     "Invalid value for webhdfs parameter \"op\": No enum constant");
  }

  LoopbackAnswer List(const std::string& name, const std::string& op,
                      const std::string& after) const STOKER_REQUIRES(mutex_) {
    const std::string folder = name.empty() ? "" : name + "/";
    std::map<std::string, Json> entries;
    for (const auto& [path, stored] : files_) {
      if (!path.starts_with(folder)) continue;
      const std::string rest = path.substr(folder.size());
      const std::string one = rest.substr(0, rest.find('/'));
      if (!one.empty()) entries.emplace(one, StatusOf(folder + one, one));
    }
    Json list = Json::array();
    size_t left = 0;
    for (const auto& [one, status] : entries) {
      if (op == "LISTSTATUS_BATCH" && one <= after) continue;
      if (op == "LISTSTATUS_BATCH" && list.size() == page_size) {
        ++left;
      } else {
        list.push_back(status);
      }
    }
    const Json statuses = {{"FileStatuses", {{"FileStatus", list}}}};
    if (op == "LISTSTATUS") return {.body = statuses.dump()};
    return {.body = Json{{"DirectoryListing",
                          {{"partialListing", statuses}, {"remainingEntries", left}}}}
                        .dump()};
  }

  LoopbackAnswer DataAnswer(const LoopbackRequest& request, int number) const {
    if (data_fault) {
      if (const std::optional<LoopbackAnswer> answer = data_fault(request, number)) return *answer;
    }
    const MutexLock lock(mutex_);
    std::string name = request.target.substr(std::string("/webhdfs/v1/").size());
    name = name.substr(0, name.find('?'));
    const size_t offset = std::stoul(ParameterOf(request.target, "offset"));
    const size_t length = std::stoul(ParameterOf(request.target, "length"));
    const std::string& content = files_.at(name).content;
    if (offset >= content.size())
      return Exception(403, "IOException",
                       "Offset=" + std::to_string(offset) + " out of the range");
    return {.body = content.substr(offset, length)};
  }

  mutable Mutex mutex_;
  std::map<std::string, Stored> files_ STOKER_GUARDED_BY(mutex_);
  size_t writes_ STOKER_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> asked_ STOKER_GUARDED_BY(mutex_);
  const LoopbackServer data_node_, name_node_;
};

class WebHdfsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"HADOOP_USER_NAME", "WEBHDFS_DELEGATION_TOKEN", "WEBHDFS_DELEGATION_TOKEN_FILE"})
      ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  static Result<std::string> ReadAll(const std::string& path) {
    STOKER_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
    std::string all(source->size_bound().bytes, '\0');
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            source->ReadFully(std::as_writable_bytes(std::span(all))));
    all.resize(got);
    return all;
  }
};

}  // namespace stoker
