// Amazon's S3 and stores that speak as it does, s3://. Requests are made and signed in s3.h.
#include <string>
#include <string_view>
#include <utility>

#include "stoker/io/remote/remote_stores_internal.h"
#include "stoker/io/remote/s3.h"
#include "stoker/io/remote/s3_like_store.h"

namespace stoker {
namespace {

class S3 final : public S3LikeStore {
  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest& asked) const override {
    STOKER_ASSIGN_OR_RETURN(
        StoreRequest request,
        S3Stores::Shared().MakeRequest(access.location, asked.query, access.options));
    AddReadHeaders(asked, request.http.headers);
    return request;
  }

  bool LearnFrom(const RemoteAccess& access, const RequestTerms& terms,
                 const HttpAnswer& answer) const override {
    return S3Stores::Shared().LearnFrom(access.location, terms, answer, access.options);
  }

  Status Refusal(const RemoteAccess& access, const std::string& place, const std::string& text,
                 const StoreError& error) const override {
    if (access.options.anonymous) return RefusedObject(access, place, text, "");
    if (error.code == kExpiredToken) {
      return PermissionDenied("{}: {}; renew the credentials (AWS_SESSION_TOKEN, ~/.aws)", place,
                              text);
    }
    if (error.code == "InvalidAccessKeyId" || error.code == "SignatureDoesNotMatch") {
      return PermissionDenied(
          "{}: {}; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws, "
          "and that they are of this store",
          place, text);
    }
    return RefusedObject(access, place, text,
                         "these credentials may not read it, or it is not there; check the name "
                         "and the rights, or take another profile (data.remote)");
  }
  std::string_view RedirectAdvice() const override {
    return "the bucket is elsewhere; set region or endpoint (data.remote)";
  }
};

}  // namespace

const RemoteStore& internal::S3Store() {
  static const S3& store = *new S3;
  return store;
}

}  // namespace stoker
