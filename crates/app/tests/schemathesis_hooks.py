"""How schemathesis writes bodies of JSON lines: one line, which is what their schema describes."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def json_line(context, value):
    return json.dumps(value).encode()
