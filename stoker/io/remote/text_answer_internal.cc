#include "stoker/io/remote/text_answer_internal.h"

#include <span>
#include <utility>

namespace stoker::internal {
namespace {

class TextSink final : public RemoteSink {
 public:
  TextSink(const RemoteLocation& location, std::string query, size_t most, std::string_view what)
      : location_(location), query_(std::move(query)), most_(most), what_(what) {}
  std::string TakeText() { return std::move(text_); }
  Status refusal() const override { return refusal_; }

  RemoteRequest Next() override {
    text_.clear();
    return {.query = query_};
  }
  uint64_t received() const override { return 0; }  // one that breaks off begins anew
  bool Begin(const HttpHead&) override { return true; }
  bool Take(std::span<const std::byte> bytes) override {
    if (bytes.size() > most_ - text_.size()) {
      refusal_ =
          Unavailable("{}: {} is longer than {} MiB, as no store sends it; check the endpoint",
                      location_.name, what_, most_ >> 20);
      return false;
    }
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }

 private:
  const RemoteLocation& location_;
  const std::string query_;
  const size_t most_;
  const std::string_view what_;
  std::string text_;
  Status refusal_;
};

}  // namespace

Result<std::string> AskForText(const HttpDialect& dialect, const RemoteAccess& access,
                               std::string query, size_t most, std::string_view what) {
  TextSink sink(access.location, std::move(query), most, what);
  STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(dialect, access, sink));
  if (answer.head.status / 100 == 2) return sink.TakeText();
  return FailedPrecondition("{}: HTTP {} in the place of {}; check the endpoint",
                            access.location.name, answer.head.status, what);
}

}  // namespace stoker::internal
