// Who asks an S3-compatible store, and which: from the environment and the files of ~/.aws, as
// Amazon's own programs find it.
//
// Credentials, the first that are there: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN (unless a profile is named in the settings); the profile in the file of
// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); the one in the file of AWS_CONFIG_FILE
// (~/.aws/config). Profiles that ask other programs or services (sso_, role_arn,
// credential_process) are not followed: `aws configure export-credentials --format env` makes
// variables of them.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/sigv4.h"

namespace stoker {

// Read anew at each call. Errors: kPermissionDenied where there are none; the message says where
// was looked, and no secret.
Result<AwsCredentials> FindAwsCredentials(const RemoteOptions& options);

// Both from the files read once; empty where nothing is said.
struct AwsPlace {
  std::string endpoint, region;
};
AwsPlace FindAwsPlace(const RemoteOptions& options);

}  // namespace stoker
