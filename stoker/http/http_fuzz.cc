// The first byte says what the rest is: an address, a header Host, the target of a request, a
// token, a header Authorization, the data of an event, or a whole head of a request.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stoker/http/address.h"
#include "stoker/http/admission_internal.h"
#include "stoker/http/event_stream.h"
#include "stoker/http/reply.h"
#include "stoker/http/request_target.h"
#include "stoker/http/response_text_internal.h"
#include "stoker/http/token.h"

namespace {

using stoker::HttpNames;

constexpr std::string_view kToken = "0123456789abcdef";

void Require(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  fmt::print(stderr, "{}: {}\n", what, text);
  std::abort();
}

// What is taken as an address can be written and read again.
void TryAddress(std::string_view text) {
  const auto address = stoker::ParseHttpAddress(text);
  if (!address.ok()) return;
  const std::string url = stoker::HttpUrl(address->host, address->port);
  const auto again =
      stoker::ParseHttpAddress(std::string_view(url).substr(7, url.size() - 8));  // http:// and /
  Require(again.ok() && *again == *address, "an address is read differently", text);
}

// No name of another site may pass, whatever surrounds it.
void TryHost(std::string_view text) {
  const HttpNames names("127.0.0.1", {"machine"});
  if (!names.Allows(text)) return;
  for (const char c : text)
    Require(static_cast<unsigned char>(c) > ' ' && c != '@' && c != '/' && c != '%',
            "a host is allowed", text);
}

void TryTarget(std::string_view text) {
  const auto target = stoker::ParseRequestTarget(text);
  if (!target.ok()) return;
  Require(target->path.starts_with('/'), "a path does not begin with '/'", text);
  for (const char c : target->path)
    Require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a control character", text);
}

void TryToken(std::string_view text) {
  const auto token = stoker::ParseToken(text, "fuzz");
  if (!token.ok()) return;
  Require(stoker::TokenCheck(*token).Passes("Bearer " + *token), "a token fails itself", text);
}

void TryAuthorization(std::string_view text) {
  if (!stoker::TokenCheck(kToken).Passes(text)) return;
  Require(text.ends_with(kToken) && text.size() > kToken.size() + 6, "a header passes", text);
}

// Every line but the last begins with the field that it is meant to have.
void TryEvent(std::string_view text) {
  const std::string event = stoker::EventText("tick", text);
  for (size_t at = event.find('\n'); at + 2 < event.size(); at = event.find('\n', at + 1))
    Require(event.compare(at + 1, 6, "data: ") == 0, "an event has another field", text);
  Require(event.find('\r') == std::string::npos, "an event has a carriage return", text);
}

// "METHOD TARGET\nNAME VALUE\n...": heads that Beast might hand over.
void TryHead(std::string_view text) {
  static const stoker::Admission admission(
      {{.path = "/", .handler = [](const stoker::HttpRequest&, stoker::HttpReply) {}}},
      HttpNames("127.0.0.1", {}), stoker::TokenCheck(kToken));
  stoker::RequestHead head;
  bool first = true;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t space = std::min(line.find(' '), line.size());
    std::string name(line.substr(0, space));
    std::string value(line.substr(std::min(space + 1, line.size())));
    if (first) {
      head.method = std::move(name);
      head.target = std::move(value);
    } else {
      head.headers.emplace_back(std::move(name), std::move(value));
    }
    first = false;
  }
  const stoker::AdmissionResult decision = admission.Decide(head);
  const stoker::HttpResponse& refusal = decision.refusal;
  if (decision.route == nullptr) {
    Require(refusal.status >= 400, "a refusal says that all is well", head.target);
    const std::string answer = stoker::HeadText(refusal, {.length = refusal.body.size()});
    Require(answer.find("\r\n\r\n") == answer.size() - 4, "a header breaks out", head.target);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr void (*kParsers[])(std::string_view) = {TryAddress,       TryHost,  TryTarget, TryToken,
                                                    TryAuthorization, TryEvent, TryHead};
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  kParsers[data[0] % std::size(kParsers)](rest);
  return 0;
}
