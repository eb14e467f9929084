"""Our signatures of requests to S3 are those of botocore, the library under Amazon's own command line and boto3."""
import json
import os
import re
import subprocess
import unittest

from other_software import InteropTest, has
from program import STOKER

SIGNED_REQUESTS = os.path.join(os.path.dirname(STOKER), "stoker_signed_requests")
REQUESTS = 500

# Random requests as signed_requests.cc takes them, each with the header Authorization that botocore makes of it in "want".
# botocore encodes the path and the query itself, or takes the query as it is sent; it is the one to sort them.
SIGN = """
import botocore.auth, datetime, hashlib, json, random
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.utils import percent_encode

rng = random.Random(20261122)
ODD = [" ", "+", "%", "%2F", "&", "=", "?", "#", "~", "*", "'", "(", ")", ":", "@", ",", ";", "!", "$", "\\\\", "|", "^", "`", "[", "{", '"', "<",
       "..", ".", "-", "_", "\\u00e9", "e\\u0301", "\\u4e2d\\u6587", "\\U0001f600", "\\u00ff", "\\t", "\\x7f", "A", "z", "0", "z9", "Key"]
BLANKS = [" ", "  ", "\\t", ""]

def text(most, more=()):
    return "".join(rng.choice([*ODD, *more]) for _ in range(rng.randrange(most + 1)))

def word():
    return "".join(rng.choice("abcXYZ019-") for _ in range(rng.randrange(1, 9))).strip("-") or "x"

def parameters():
    names = [text(3) for _ in range(rng.randrange(5))]
    names += rng.choices(names, k=rng.randrange(3)) if names else []  # repeated
    names += rng.sample(["list-type", "prefix", "continuation-token", "delimiter", "a", "A", "a-b", "a.b"], rng.randrange(4))
    rng.shuffle(names)
    return [[name, rng.choice(["", text(4), word(), None])] for name in names]

def headers():
    found = []
    for name in rng.sample(["Range", "If-Match", "Content-Type", "x-amz-acl", "X-Amz-Meta-Note", "cache-control", "A", "Zz"], rng.randrange(5)):
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            value = rng.choice(["bytes=0-9", '"etag"', "a   b  c", "", "v," + word(), "\\u00e9", word()])
            found.append([rng.choice([name, name.lower(), name.upper()]), rng.choice(BLANKS) + value + rng.choice(BLANKS)])
    rng.shuffle(found)
    return found

def one():
    s3 = rng.random() < 0.8
    key = "/".join(text(4) for _ in range(rng.randrange(1, 5))) if s3 else "/".join(word() for _ in range(rng.randrange(3)))
    time = rng.choice([0, 951782399, 951782400, 4107542399, rng.randrange(4 * 10**9)])
    credentials = Credentials(word() * 3, rng.choice([word() * 5, "a/b+c=" + word(), "\\u00e9" + word()]),
                              rng.choice([None, word() * 30, "to+ken/=="]))
    made = {"method": rng.choice(["GET", "GET", "HEAD", "PUT", "POST", "DELETE"]), "key": key, "query": parameters(), "headers": headers(),
            "region": rng.choice(["us-east-1", "eu-central-2", "cn-north-1", "auto", word()]), "service": "s3" if s3 else word().lower(),
            "time": time, "access_key_id": credentials.access_key, "secret_access_key": credentials.secret_key}
    host = rng.choice(["bucket.s3.amazonaws.com", "127.0.0.1:9000", "Store.Example:8443", "my.bucket"])
    query, in_url = made["query"], rng.random() < 0.5
    url = f"https://{host}" + percent_encode("/" + key, safe="/~")
    quoted = [[percent_encode(name), None if value is None else percent_encode(value)] for name, value in query]
    if in_url and query:
        url += "?" + "&".join(name if value is None else f"{name}={value}" for name, value in quoted)
    body = rng.randbytes(rng.randrange(1, 50)) if rng.random() < 0.4 else b""
    request = AWSRequest(made["method"], url, data=body, params=None if in_url else [(name, value or "") for name, value in query])
    for name, value in made["headers"]:
        request.headers[name] = value
    request.headers["Host"] = host
    now = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda *_, **__: now.replace(tzinfo=None)
    auth = botocore.auth.S3SigV4Auth if s3 else botocore.auth.SigV4Auth
    auth(credentials, made["service"], made["region"]).add_auth(request)
    made["want"] = request.headers["Authorization"]
    made["payload_sha256"] = hashlib.sha256(body).hexdigest()
    made["headers"] += [["host", host], ["x-amz-date", now.strftime("%Y%m%dT%H%M%SZ")]]
    if s3: made["headers"].append(["x-amz-content-sha256", made["payload_sha256"]])
    if credentials.token: made["headers"].append(["x-amz-security-token", credentials.token])
    return made

print(json.dumps([one() for _ in range(REQUESTS)]))
"""


def parts_of(authorization):
    """Algorithm, credential, signed headers and signature."""
    return re.fullmatch(r"(\S+) Credential=(\S+?), ?SignedHeaders=(\S+?), ?Signature=([0-9a-f]{64})", authorization).groups()


@unittest.skipUnless(os.access(SIGNED_REQUESTS, os.X_OK), "the program that signs is not built")
@unittest.skipUnless(has("botocore"), "botocore is not there; ./dev setup --interop installs it, with moto")
class SignaturesInteropTest(InteropTest):
    def test_500_random_requests_are_signed_as_botocore_signs_them(self):
        asked = self.run_other(SIGN.replace("REQUESTS", str(REQUESTS)))
        lines = "".join(json.dumps(one) + "\n" for one in asked)
        done = subprocess.run([SIGNED_REQUESTS], input=lines, capture_output=True, text=True, check=True)
        signed = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(signed), REQUESTS)
        for number, (one, ours) in enumerate(zip(asked, signed)):
            with self.subTest(number=number, asked=one, sent=ours):
                self.assertEqual(parts_of(ours["authorization"]), parts_of(one["want"]))


if __name__ == "__main__":
    unittest.main()
