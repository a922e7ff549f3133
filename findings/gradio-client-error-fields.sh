#!/usr/bin/env bash
# gradio_client 2.7.2: a further field in an event's error ends the call with a TypeError, without its message.
#
# The client passes every field of an error to the constructor of its AppError. A server that tells
# more of an error, here a code, is answered with "unexpected keyword argument 'code'" on the side of
# the program, and the sentence that the server sent is lost. Servers of a later version that add a
# field have the same effect on programs with this client.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q gradio==6.31.0 gradio_client==2.7.2

cat > "$folder/check.py" <<'PYTHON'
import gradio
from gradio import queueing
from gradio_client import Client

SENTENCE = "A text needs a mask."


def refuse(_text):
    raise gradio.Error(SENTENCE, print_exception=False)


with gradio.Blocks() as page:
    box = gradio.Textbox()
    box.submit(refuse, box, box, api_name="ask")
_, url, _ = page.launch(prevent_thread_lock=True, quiet=True)
client = Client(url, verbose=False)


def said():
    """The class and the message of what a call raises."""
    try:
        client.predict("a text", api_name="/ask")
    except Exception as error:
        return type(error).__name__, str(error)


as_usual = said()
payload = queueing.error_payload
queueing.error_payload = lambda *given: payload(*given) | {"code": "no-mask"}
with_code = said()
page.close()
print("the four usual fields:", *as_usual)
print("with a field 'code':", *with_code)
assert as_usual == ("AppError", SENTENCE), "changed"
assert with_code[0] == "TypeError" and SENTENCE not in with_code[1], "changed"
PYTHON
GRADIO_ANALYTICS_ENABLED=False "$folder/venv/bin/python" -W ignore "$folder/check.py"
